/** Q3: an authority sends its answer one byte at a time, so the connection is never idle and the answer never ends. */
import { type AttemptSoFar, timeLeftMs } from '@basa/protocol';
import type { Attack, AttackResult } from './attack.ts';
import { stopping } from './council-scene.ts';

const TIMEOUT = { timeoutMs: 30_000 };
const DRIP_MS = 2_000;
const A_DAY_MS = 24 * 3_600_000;

export const Q3: Attack = {
  id: 'Q3',
  schedule: 'a device asks an authority for the policy; the authority sends one byte of its answer every two seconds',
  mutant: 'a client that gives up only after 30 s without any byte',
  stoppedBy: 'an answer must arrive within 30 s, plus one second for every 8 kB',
  broken: () => dripped(({ silentMs }) => TIMEOUT.timeoutMs - silentMs),
  sealed: () => dripped((attempt) => timeLeftMs(attempt, TIMEOUT)),
};

/** Sends byte by byte, until there is no time left before the next one, or for a day. */
function dripped(leftMs: (attempt: AttemptSoFar) => number): AttackResult {
  for (let receivedBytes = 0; receivedBytes * DRIP_MS < A_DAY_MS; receivedBytes++) {
    const attempt = { elapsedMs: receivedBytes * DRIP_MS, silentMs: 0, sentBytes: 0, receivedBytes };
    if (leftMs(attempt) < DRIP_MS) return stopping([]);
  }
  return stopping(['the device never stops waiting']);
}
