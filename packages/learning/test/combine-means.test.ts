/** One mean of several: weighed by examples and age, or robust against groups that lie. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { combineMeans } from '../src/index.ts';
import { trimmedMean, trimmedPerSide } from '../src/server/combine-means.ts';

const MEAN = { combine: 'mean', damping: 1 } as const;
const TRIMMED = { combine: 'trimmed', damping: 1 } as const;

const value = fc.float({ noNaN: true, noDefaultInfinity: true });
const groups = (count: number, dimension: number) =>
  fc.array(fc.array(value, { minLength: dimension, maxLength: dimension }), { minLength: count, maxLength: count });
const vectors = (rows: readonly (readonly number[])[]) => rows.map((row) => Float32Array.from(row));

describe('the mean of means', () => {
  it('is a single mean unchanged, at any age', () => {
    const mean = Float32Array.of(0.1, -3, 7);
    expect(combineMeans([{ mean, weight: 3, age: 9 }], MEAN)).toBe(mean);
  });

  it('weighs by examples and by age', () => {
    const [one, other] = [Float32Array.of(1, 0), Float32Array.of(0, 1)];
    const combined = combineMeans(
      [
        { mean: one, weight: 30, age: 0 },
        { mean: other, weight: 10, age: 1 },
      ],
      MEAN,
    );
    expect([...combined]).toEqual([30 / 35, 5 / 35]);
    const undamped = combineMeans(
      [
        { mean: one, weight: 30, age: 0 },
        { mean: other, weight: 10, age: 1 },
      ],
      { ...MEAN, damping: 'none' },
    );
    expect([...undamped]).toEqual([0.75, 0.25]);
  });

  it('rejects means of different lengths, and an empty list', () => {
    const means = [1, 2].map((length) => ({ mean: new Float32Array(length), weight: 1, age: 0 }));
    expect(() => combineMeans(means, MEAN)).toThrow('means of 1 and of 2 coordinates');
    expect(() => combineMeans([], MEAN)).toThrow('no mean to combine');
  });
});

describe('the trimmed mean', () => {
  it('leaves out one of five on each side, two of ten, and never everything', () => {
    expect([3, 4, 5, 9, 10, 64].map(trimmedPerSide)).toEqual([1, 1, 1, 1, 2, 12]);
    expect(() => trimmedPerSide(2)).toThrow('at least three');
  });

  it('is the mean of what is left, weighed by age and not by examples', () => {
    const means = [5, 1, 9, 3, 7].map((number, n) => ({
      mean: Float32Array.of(number),
      weight: n === 2 ? 1e9 : 1,
      age: number === 7 ? 1 : 0,
    }));
    expect(combineMeans(means, TRIMMED)[0]).toBeCloseTo((5 + 3 + 7 / 2) / 2.5, 12);
  });

  it('of five groups stays within the honest four for any fifth', () => {
    fc.assert(
      fc.property(groups(4, 3), fc.array(value, { minLength: 3, maxLength: 3 }), fc.nat(4), (honest, lie, at) => {
        const all = vectors([...honest.slice(0, at), lie, ...honest.slice(at)]);
        const combined = trimmedMean(
          all,
          all.map((_, n) => 1 / (1 + n)),
        );
        for (const [i, found] of combined.entries()) {
          const own = vectors(honest).map((row) => row[i] as number);
          expect(found).toBeGreaterThanOrEqual(Math.min(...own));
          expect(found).toBeLessThanOrEqual(Math.max(...own));
        }
      }),
    );
  });

  it('of any number of groups withstands a fifth of them', () => {
    const cases = fc
      .integer({ min: 5, max: 20 })
      .chain((count) => fc.tuple(groups(count - Math.floor(count / 5), 1), groups(Math.floor(count / 5), 1)));
    fc.assert(
      fc.property(cases, ([honest, lies]) => {
        const all = vectors([...lies, ...honest]);
        const [found] = trimmedMean(
          all,
          all.map(() => 1),
        );
        const own = honest.map(([number]) => Math.fround(number as number));
        expect(found).toBeGreaterThanOrEqual(Math.min(...own));
        expect(found).toBeLessThanOrEqual(Math.max(...own));
      }),
    );
  });

  it('does not depend on the order of the groups', () => {
    fc.assert(
      fc.property(groups(6, 2), (rows) => {
        const weights = rows.map(() => 1);
        const turned = [...rows].reverse();
        const [one, other] = [trimmedMean(vectors(rows), weights), trimmedMean(vectors(turned), weights)];
        expect([...one]).toEqual([...other]);
      }),
    );
  });
});
