/** The server learns the sum over honest accepted users and nothing else: solved from the traces of the real core. */
import { describe, expect, it } from 'vitest';
import type * as Oracle from '../../src/proofs/oracle/index.ts';
import { importPatched } from '../../src/proofs/patched-core.ts';

// As a bundle, without any patch: a call from one module into another costs more inside Vitest, and here are very many.
const { learnedInPaper, NO_SCHEDULES, ORACLE_ENGINES, PAPER_ATTACKS, paperLaw, runEverySituation, runSchedules } =
  await importPatched<typeof Oracle>('lab/src/proofs/oracle/index.ts', []);

/** `npm run lab -- prove oracle` runs 10^7, and every situation of K = 4 and 5 as well. */
const SCHEDULES = 600;

describe('sealed', () => {
  it.each(ORACLE_ENGINES)('leaks in none of the situations of K = 3 with %s, and the sum is always found', (engine) => {
    const tally = runEverySituation(3, engine);
    expect(tally.leaks).toEqual([]);
    expect(tally.situations).toBe(1219);
    expect(tally.sums).toBeGreaterThan(0);
    expect(tally.sumsFound).toBe(tally.sums);
  });

  let total = NO_SCHEDULES;
  it('leaks nothing but the honest sum in generated schedules', () => {
    total = runSchedules(0, SCHEDULES);
    expect(total.leaks).toEqual([]);
  });

  it('is tested on relevant schedules: most fill and close, many hold colluders and lies', () => {
    expect(total.schedules).toBe(SCHEDULES);
    expect(total.filled / total.schedules).toBeGreaterThan(0.9);
    expect(total.closed / total.schedules).toBeGreaterThan(0.6);
    expect(total.withColluders).toBeGreaterThan(SCHEDULES / 10);
    expect(total.withLies).toBeGreaterThan(0.3 * SCHEDULES);
    expect(total.sumsFound / total.sums).toBeGreaterThan(0.99);
  });

  it('finds every sum but those whose key the authority withholds because the server lied about a dropped slot', () => {
    expect(total.sumsWithheld).toBeGreaterThan(0);
    expect(total.sumsFound + total.sumsWithheld).toBe(total.sums);
  });
});

describe('paper', () => {
  const leakSets = (bufferSize: number) =>
    Array.from(
      { length: 2 ** bufferSize },
      (_, code) => new Set(Array.from({ length: bufferSize }, (__, k) => k).filter((k) => (code >> k) % 2 === 1)),
    );

  it.each([3, 4, 5, 6])('follows its general law for every set of leaked keys, K = %d', (bufferSize) => {
    for (const leaked of leakSets(bufferSize)) {
      expect(learnedInPaper(bufferSize, leaked)).toEqual(paperLaw(bufferSize, leaked));
    }
  });

  it.each([
    ['A1', ['x0 + x1', 'x2']],
    ['A2', ['x0', 'x1', 'x2']],
    ['B1', ['x0 + x1 + xb', 'xa - xb']],
    ['B2', ['x0 + x1', 'xa']],
    ['C1', ["x - x'"]],
    ['D1', ['x0', 'x1', 'x2']],
    ['D2', ['x2']],
  ])('leaks in %s exactly the values of the table', (name, learned) => {
    expect(PAPER_ATTACKS[name]?.()).toEqual(learned);
  });
});
