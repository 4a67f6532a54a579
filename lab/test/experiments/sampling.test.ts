/** Prices that may be charged: a spread that is too large is refused or marked, and of two looks the calmer one counts. */

import { CAREFUL, calmer, MAX_SPREAD, NoisyMachineError, sample, secondLook } from '@basa/simulator/virtual-time';
import { describe, expect, it } from 'vitest';
import { costsTables } from '../../src/experiments/report/costs-table.ts';
import { COSTS } from './declared-costs.ts';

/** Now nothing, now two million roots: the middle half of its samples spans more than its median. */
function unsteady(): () => void {
  let turn = 0;
  let sum = 0;
  return () => {
    if (turn++ % 2 === 0) for (let n = 0; n < 2e6; n++) sum += Math.sqrt(n);
    if (sum < 0) throw new Error('never');
  };
}

const QUICK = { ...CAREFUL, warmUps: 0, samples: 9, minMs: 0, tries: 1 };

describe('work whose samples spread by more than a fifth', () => {
  it('is rejected, with the name of the measurement', () => {
    expect(() => sample('a swinging job', unsteady(), QUICK)).toThrow(NoisyMachineError);
    expect(() => sample('a swinging job', unsteady(), QUICK)).toThrow(/a swinging job.*--noisy/);
  });

  it('is kept with its spread if that was asked for', () => {
    expect(sample('a swinging job', unsteady(), { ...QUICK, isNoisyKept: true }).spread).toBeGreaterThan(MAX_SPREAD);
  });

  it('is marked in the report, and nothing else is', () => {
    const noisy = { ...COSTS, durable: { ms: 1, spread: 0.3 } };
    const marked = (costs: typeof COSTS): number =>
      costsTables(costs).flatMap(({ rows }) => rows.flat().filter((text) => text.endsWith('noisy'))).length;
    expect(marked(COSTS)).toBe(0);
    expect(marked(noisy)).toBe(1);
  });
});

describe('two looks at the same prices', () => {
  it('give the smaller price of each, at any depth of the object', () => {
    const one = { a: { ms: 2, spread: 0.1 }, b: [{ ms: 1, counts: { seals: 3 } }], bytes: 64 };
    const other = { a: { ms: 1, spread: 0.1 }, b: [{ ms: 5, counts: { seals: 3 } }], bytes: 64 };
    expect(calmer(one, other)).toEqual({ a: other.a, b: one.b, bytes: 64 });
  });

  it('a smaller price that spreads too much does not count, unless the other one spreads as much', () => {
    const steady = { ms: 2, spread: 0.1 };
    const noisy = { ms: 1, spread: 0.3 };
    expect(calmer(steady, noisy)).toEqual(steady);
    expect(calmer({ ms: 2, spread: 0.4 }, noisy)).toEqual(noisy);
  });

  it('the second one never refuses: the first has decided', () => {
    expect(secondLook(CAREFUL).isNoisyKept).toBe(true);
    expect(secondLook(CAREFUL).samples).toBeLessThan(CAREFUL.samples);
  });
});
