/** Verifying a log reveals a device that is in more sums of a private task than its budget allows. */
import { type AuthorityRecord, type BufferClosed, ctxOf, type KeyIssued } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { expect, it } from 'vitest';
import { LogRules } from '../src/log/log-rules.ts';

it.each([
  [
    1,
    [
      'the device of slot 0 is in more sums than its budget allows',
      'the device of slot 1 is in more sums than its budget allows',
    ],
  ],
  [2, []],
])('with a budget of %d inclusions', (participations, problems) => {
  const privacy = { noiseMultiplier: 1, colluders: 0, delta: 1e-6, participations };
  const world = nodeFederation({ bufferSize: 2, minimum: 2, dimension: 4, level: 5, privacy });
  const devices = [world.device(), world.device()];
  for (const device of devices) device.contribute();
  world.server.finish(devices[0]?.ctx as never);
  world.device().contribute('seat');
  const records: readonly AuthorityRecord[] = world.authority.records;
  const rules = new LogRules(world.authority.publicKey);
  expect(records.flatMap((entry) => rules.check(entry))).toEqual([]);
  // An authority that breaks its word: the same devices once more, in the buffer that was drawn last.
  const drawn = records.filter((entry) => entry.kind === 'buffer-drawn').at(-1);
  if (drawn?.kind !== 'buffer-drawn') throw new Error('no buffer');
  const ctx = ctxOf(nodeSuite, drawn.descriptor);
  const issued = records.filter((entry): entry is KeyIssued => entry.kind === 'key-issued');
  const closed = records.find((entry): entry is BufferClosed => entry.kind === 'buffer-closed');
  for (const entry of issued) expect(rules.check({ ...entry, ctx })).toEqual([]);
  expect(rules.check({ ...(closed as BufferClosed), ctx })).toEqual(problems);
});
