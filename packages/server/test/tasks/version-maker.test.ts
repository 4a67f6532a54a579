/** A version waits for other sums as long as some may come. */
import type { Ctx } from '@basa/protocol';
import { ONE_SHOT_DEFAULTS } from '@basa/protocol/policy';
import { expect, it } from 'vitest';
import { VersionMaker } from '../../src/tasks/version-maker.ts';
import { bytes, policy, task } from '../support/store-samples.ts';

/** One sum was opened this long ago. It is enough for a version only if it is the last one. */
async function isLast(
  openedAgo: number,
  {
    quietMs = 0,
    open = ['opened'],
    idle = [],
  }: { quietMs?: number; open?: readonly string[]; idle?: readonly number[] } = {},
): Promise<boolean> {
  const now = 10_000_000;
  let isMade = false;
  const waiting = { kind: 'mean', ctx: bytes(7) as Ctx, task, at: now - openedAgo, weightSum: 1, metrics: {} };
  const made = async () => {
    isMade = true;
    return { version: 1 };
  };
  const context = {
    ...{ task, stallMs: 60_000, coming: { quietMs: () => quietMs }, onIncluded: async () => undefined },
    policy: { ...policy, oneShot: { ...ONE_SHOT_DEFAULTS, stepUpdates: 99, stepWindowMs: 3_600_000 } },
    read: { serverStep: { kind: 'fedbuff', rate: 1 } },
    store: {
      now: async () => now,
      openedSums: async () => [waiting],
      openBatches: async () => open.map((status) => ({ status })),
      shotGroups: async () => idle.map((ago) => ({ lastAt: now - ago })),
    },
    batches: {
      find: async () => ({ users: [bytes(1)], rules: { version: 0 } }),
      step: async () => ({ kind: 'included' }),
    },
    models: { newest: { version: 0 }, make: made, refresh: async () => undefined },
    watch: { traces: { step: (_: string, __: object, work: () => unknown) => work() } },
  };
  await new VersionMaker(context as never).advance(undefined);
  return isMade;
}

it('the last sum of a version is the one after which none comes for long, or the time of a step has passed', async () => {
  expect([await isLast(3_600_000, { open: ['frozen'] }), await isLast(59_999)]).toEqual([true, false]);
  expect(await isLast(60_000)).toBe(true);
  expect([await isLast(1_000, { quietMs: 1_000 }), await isLast(999, { quietMs: 1_000 })]).toEqual([true, false]);
  const others = { quietMs: 5_000, open: ['opened', 'granted'] };
  expect([await isLast(4_999, others), await isLast(5_000, others)]).toEqual([false, true]);
  expect([await isLast(60_000, { idle: [10_000] }), await isLast(10_000, { quietMs: 5_000, idle: [4_999] })]).toEqual([
    false,
    false,
  ]);
  expect(await isLast(10_000, { quietMs: 5_000, idle: [10_000] })).toBe(true);
});
