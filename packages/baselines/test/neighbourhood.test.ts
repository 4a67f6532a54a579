/** The rule of SecAgg+ against the table of decision 030 and exact integers, and the graph it leads to. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseNeighbourhood, drawGraph, hypergeometric } from '../src/secagg/parameters.ts';
import { seededBytes } from './support.ts';

const SIZES = [32, 64, 100, 200, 500, 1000, 2000];

describe('the rule for k and t', () => {
  it.each([
    [0.05, 0.05, '28,2 28,4 29,6 29,11 30,16 34,18 36,19'],
    [0.1, 0.1, '- 40,7 41,11 42,20 47,25 53,28 57,30'],
    // The table has 83,50 for n = 2000 here and 98,51 for n = 500 below: not the smallest (decision 030).
    [0.2, 0.1, '- 53,13 54,21 55,33 67,41 76,46 81,49'],
    [0.1, 0.2, '- 53,7 54,11 55,21 66,29 75,33 81,36'],
    [0.2, 0.2, '- - 71,21 73,37 96,50 112,58 123,64'],
    [1 / 3, 1 / 3, '- - - 163,67 235,120 322,164 394,201'],
  ])('gives the table for gamma = %d, delta = %d', (corrupt, dropped, row) => {
    const chosen = SIZES.map((users) => chooseNeighbourhood(users, { corrupt, dropped }));
    expect(chosen.map((found) => (found === undefined ? '-' : `${found.degree},${found.threshold}`)).join(' ')).toBe(
      row,
    );
  });

  it.each([
    [2000, 400, 1800, 81, 49, 0.3],
    [500, 100, 400, 96, 50, 0.4],
  ])('holds in exact integers if it departs from the table, n = %d', (n, corrupt, alive, k, t, fraction) => {
    const tail = (marked: number, from: number, to: number): number => {
      let ways = 0n;
      for (let i = from; i <= to; i++) ways += choose(marked, i) * choose(n - 1 - marked, k - i);
      return Number((ways * 10n ** 40n) / choose(n - 1, k)) / 1e40;
    };
    expect(tail(corrupt, t, k) + fraction ** (k / 2)).toBeLessThan(2 ** -40 / n);
    expect(tail(alive, 0, t)).toBeLessThan(2 ** -30 / n);
  });

  it('has chances that agree with exact integers and add up to one', () => {
    const chances = hypergeometric(99, 20, 41);
    expect(chances.reduce((sum, chance) => sum + chance, 0)).toBeCloseTo(1, 12);
    const exact = Number((choose(20, 9) * choose(79, 32) * 10n ** 18n) / choose(99, 41)) / 1e18;
    expect(chances[9]).toBeCloseTo(exact, 12);
  });
});

describe('the graph', () => {
  it('is regular, without loops, and the same seen from both ends', () => {
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 30 }), fc.nat(), fc.nat(), (nodes, k, seed) => {
        const degree = 1 + (k % (nodes - 1));
        const users = Array.from({ length: nodes }, (_, n) => 3 * n);
        const graph = drawGraph(users, { kind: 'harary', degree }, seededBytes(seed));
        const expected = (nodes * degree) % 2 === 0 ? degree : nodes - 1;
        for (const user of users) {
          const neighbours = graph.neighboursOf(user);
          expect(new Set(neighbours).size).toBe(expected);
          expect(neighbours).not.toContain(user);
          expect(neighbours.every((peer) => graph.neighboursOf(peer).includes(user))).toBe(true);
        }
      }),
    );
  });
});

function choose(n: number, k: number): bigint {
  if (k < 0 || k > n) return 0n;
  let ways = 1n;
  for (let i = 1; i <= k; i++) ways = (ways * BigInt(n - k + i)) / BigInt(i);
  return ways;
}
