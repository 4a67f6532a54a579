/** Lists of operations against the real cores: whatever goes wrong, sums are exact and nothing acknowledged is lost. */

import { drawFrom } from '@basa/testkit/core/draw.ts';
import { nodeEnvironment, seededWords } from '@basa/virtual-time/simulation';
import { describe, expect, it } from 'vitest';
import { shrinkList } from '../../src/proofs/faults/shrink.ts';
import { simulate } from '../../src/proofs/faults/simulate.ts';
import { drawSimulation, type Operation, type Simulation } from '../../src/proofs/faults/simulation.ts';

const SIMULATIONS = 100;

function drawn(seed: number): Simulation {
  return drawSimulation(seed, drawFrom(seededWords(seed)));
}

describe('simulations', () => {
  it(`of seeds 1 to ${SIMULATIONS} keep every promise, and fill more than 140 buffers`, () => {
    let [filled, included, quarantined, aborted, refusals] = [0, 0, 0, 0, 0];
    for (let seed = 1; seed <= SIMULATIONS; seed++) {
      const report = simulate(nodeEnvironment, drawn(seed));
      expect({ seed, problems: report.problems }).toEqual({ seed, problems: [] });
      filled += report.filled;
      included += report.included;
      quarantined += report.quarantined;
      aborted += report.aborted;
      refusals += report.refusals;
    }
    expect(filled).toBeGreaterThan(140);
    expect(included).toBeGreaterThan(quarantined);
    expect(Math.min(quarantined, aborted, refusals)).toBeGreaterThan(10);
  });

  it('repeat with their seed, to the last number', () => {
    expect(drawn(7)).toEqual(drawn(7));
    expect(simulate(nodeEnvironment, drawn(7))).toEqual(simulate(nodeEnvironment, drawn(7)));
  });
});

describe('a planted fault', () => {
  /** Seed 4 without cheats; buffer 0 loses its newest record after `operations` of them. */
  const simulation = { ...drawn(4), devices: drawn(4).devices.map(() => undefined) };
  const losingAfter = (count: number): Operation[] => [
    ...simulation.operations.slice(0, count),
    { kind: 'lose-record', buffer: 0 },
    ...simulation.operations.slice(count),
  ];
  const problemsOf = (operations: readonly Operation[]) =>
    simulate(nodeEnvironment, { ...simulation, operations }).problems;

  it.each([
    ['an accepted upload', 'upload', 'an acknowledged update is not there'],
    ['a deposit whose slot was told', 'deposit', 'was told to a device and forgotten'],
  ] as const)('(the server loses the record of %s) is noticed, and shrunk to two operations', (_, until, sentence) => {
    const first = simulation.operations.findIndex((op) => op.kind === 'advance' && op.until === until);
    const fails = (operations: readonly Operation[]) => problemsOf(operations).some((text) => text.includes(sentence));
    const planted = losingAfter(first + 1);
    expect(fails(planted)).toBe(true);
    const shortest = shrinkList(planted, fails);
    expect(shortest.map(({ kind }) => kind)).toEqual(['advance', 'lose-record']);
    expect(shortest[0]).toMatchObject({ until });
  });

  it('after operation 40 of seed 4 (the record that a buffer was included) is harmless: it is included again, once', () => {
    const planted = simulate(nodeEnvironment, { ...simulation, operations: losingAfter(40) });
    expect(planted).toEqual(simulate(nodeEnvironment, simulation));
    expect(planted).toMatchObject({ included: 2, updates: 7, problems: [] });
  });
});

describe('shrinking', () => {
  it('leaves exactly the entries the failure needs', () => {
    const list = Array.from({ length: 100 }, (_, n) => n);
    expect(shrinkList(list, (some) => [3, 50, 97].every((n) => some.includes(n)))).toEqual([3, 50, 97]);
    expect(shrinkList(list, () => true)).toEqual([]);
  });
});
