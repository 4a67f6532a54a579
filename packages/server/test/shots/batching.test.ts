/** The time at which a batch is made. */
import { expect, it } from 'vitest';
import { isBatchDue } from '../../src/shots/batcher.ts';
import { policy as sample } from '../support/store-samples.ts';

const policy = { ...sample, bufferSize: 4, minimum: 3 };
const busy = { quietMs: 0, idleMs: 0, stallMs: Number.POSITIVE_INFINITY, isAwaited: false };
const far = { pace: busy, leftMs: 10_000, marginMs: 100 };

it.each([
  ['at once if it is full', 4, far, true],
  ['not while others come', 3, far, false],
  ['if nobody else comes', 3, { ...far, pace: { ...busy, quietMs: 2000, idleMs: 2000 } }, true],
  ['if none came for long', 3, { ...far, pace: { ...busy, stallMs: 50, idleMs: 60 } }, true],
  ['if the time to vote runs out', 3, { ...far, leftMs: 100 }, true],
  ['of fewer than Kmin never', 2, { ...far, leftMs: 0 }, false],
] as const)('a batch is made %s', (_, uploads, scene, isDue) => {
  expect(isBatchDue(policy, uploads, scene)).toBe(isDue);
});
