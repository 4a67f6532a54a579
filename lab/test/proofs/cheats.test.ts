/** One device that cheats in one way: it spoils a buffer or is left out, is named if possible, and reads nothing. */

import { nodeEnvironment } from '@basa/virtual-time/simulation';
import { describe, expect, it } from 'vitest';
import { simulate } from '../../src/proofs/faults/simulate.ts';
import type { Cheat, Operation, Simulation } from '../../src/proofs/faults/simulation.ts';

/** Four devices, the first of which cheats, fill one buffer. */
function withCheat(cheat: Cheat): Simulation {
  const devices = [cheat, undefined, undefined, undefined];
  const advance = (device: number, until: 'deposit' | 'upload'): Operation => ({ kind: 'advance', device, until });
  // The cheat takes slot 1, so that others stand on either side of it.
  const order = [1, 0, 2, 3];
  const operations = [
    ...order.map((device) => advance(device, 'deposit')),
    ...order.map((device) => advance(device, 'upload')),
    { kind: 'finish', buffer: 0, why: 'stalled' } as const,
  ];
  return { seed: 1, bufferSize: 4, minimum: 2, devices, operations };
}

describe('a cheat', () => {
  const spoils: Cheat[] = ['garbage-self', 'other-self', 'wrong-weight', 'wrong-guard', 'out-of-range', 'alters'];
  it.each(spoils)('that is accepted and spoils the sum (%s) quarantines its buffer, once', (cheat) => {
    expect(simulate(nodeEnvironment, withCheat(cheat))).toMatchObject({ included: 0, quarantined: 1, problems: [] });
  });

  const harmless: Cheat[] = [
    'garbage-edges',
    'other-edges',
    'wrong-root',
    'bad-signature',
    'hoards-seats',
    'quits',
    'truncates',
    'lies-about-voids',
  ];
  it.each(harmless)('that is refused or left out (%s) leaves the exact sum of the three others', (cheat) => {
    expect(simulate(nodeEnvironment, withCheat(cheat))).toMatchObject({ included: 1, updates: 3, problems: [] });
  });

  it('whose backups are garbage changes nothing if no device drops out', () => {
    expect(simulate(nodeEnvironment, withCheat('bad-backups'))).toMatchObject({
      included: 1,
      updates: 4,
      problems: [],
    });
  });

  it('whose backups are garbage is named when an earlier device drops out', () => {
    const { operations, ...rest } = withCheat('bad-backups');
    const withDropOut = operations.filter((op) => !(op.kind === 'advance' && op.device === 1 && op.until === 'upload'));
    const report = simulate(nodeEnvironment, { ...rest, operations: withDropOut });
    expect(report).toMatchObject({ included: 0, quarantined: 1, problems: [] });
  });
});
