/** The uploads that become a batch, and the time. */
import {
  type Ctx,
  ONE_SHOT_DEFAULTS,
  pickBatch,
  type ShotHeader,
  type TaskPolicy,
  type UserId,
  voteWindow,
} from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import { isBatchDue } from '../../src/shots/batching.ts';
import type { StoredShot } from '../../src/store/shots.ts';
import { bytes, policy as sample } from '../support/store-samples.ts';

const oneShot = { ...ONE_SHOT_DEFAULTS, tolerated: 1 };
const policy: TaskPolicy = {
  ...sample,
  engine: 4,
  oneShot,
  authorities: [bytes(1), bytes(2), bytes(3), bytes(4)],
  threshold: 3,
  bufferSize: 4,
  minimum: 3,
};

function shotOf(id: number, change: Partial<ShotHeader> = {}, named = [0, 1, 2, 3]): StoredShot {
  const epochs = named.map((authority) => ({ authority, statement: bytes(authority) }));
  const header = { user: bytes(id) as UserId, version: 1, entry: bytes(7), epochs, ...change } as ShotHeader;
  const upload = { header } as StoredShot['upload'];
  const votes = { first: 0, last: 0 };
  return { name: bytes(id) as Ctx, upload, status: 'good', reason: undefined, ctx: undefined, at: id, votes };
}

describe('a batch', () => {
  it('has at most K uploads of distinct devices, in the order in which they came', () => {
    const shots = [shotOf(1), shotOf(2), shotOf(9, { user: bytes(1) as UserId }), shotOf(3), shotOf(4), shotOf(5)];
    expect(pickBatch(policy, shots).map(({ at }) => at)).toEqual([1, 2, 3, 4]);
  });

  it('is not made of fewer than Kmin', () => {
    expect(pickBatch(policy, [shotOf(1), shotOf(2)])).toEqual([]);
    expect(pickBatch(policy, [shotOf(1), shotOf(2), shotOf(3)])).toHaveLength(3);
  });

  it('leaves out uploads without which enough authorities are named by all', () => {
    const shots = [shotOf(1, {}, [0, 1, 2]), shotOf(2, {}, [1, 2, 3]), shotOf(3), shotOf(4, {}, [0, 1, 2])];
    expect(pickBatch(policy, shots).map(({ at }) => at)).toEqual([1, 3, 4]);
  });
});

describe('a batch is made', () => {
  const busy = { quietMs: 0, idleMs: 0, stallMs: Number.POSITIVE_INFINITY, isAwaited: false };
  const far = { pace: busy, leftMs: 10_000, marginMs: 100 };

  it.each([
    ['at once if it is full', 4, far, true],
    ['not while others come', 3, far, false],
    ['if nobody else comes', 3, { ...far, pace: { ...busy, quietMs: 2000, idleMs: 2000 } }, true],
    ['if none came for long', 3, { ...far, pace: { ...busy, stallMs: 50, idleMs: 60 } }, true],
    ['if the time to vote runs out', 3, { ...far, leftMs: 90 }, true],
    ['of fewer than Kmin never', 2, { ...far, leftMs: 0 }, false],
  ] as const)('%s', (_, uploads, scene, isDue) => {
    expect(isBatchDue(policy, uploads, scene)).toBe(isDue);
  });

  it('within the time in which the authorities vote for its uploads', () => {
    const closes = (statement: Uint8Array) => ({ closes: 1000 * ((statement[0] as number) + 1) }) as never;
    expect(voteWindow(shotOf(1).upload.header, { voteMs: 500, epoch: closes })).toEqual({ first: 1500, last: 4500 });
  });
});
