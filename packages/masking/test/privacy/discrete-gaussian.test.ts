import { addNoiseInPlace, noiseTable, RING_32, ring, toSigned } from '@basa/masking';
import { describe, expect, it } from 'vitest';

/** Words of a generator of its own, so that the run is the same each time (PCG-like, not secret). */
function wordsOf(seed: number): (target: Uint32Array) => void {
  let state = BigInt(seed) * 2n + 1n;
  return (target) => {
    for (let k = 0; k < target.length; k++) {
      state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffff_ffff_ffff_ffffn;
      const mixed = Number((state >> 33n) ^ (state >> 11n)) >>> 0;
      target[k] = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d) ^ (mixed >>> 12);
    }
  };
}

/** exp(-k^2 / (2 s^2)) in units of 2^-200, each by its own series of a reduced argument: no step shared with the table. */
function slowWeight(k: number, [numerator, denominator]: readonly [bigint, bigint]): bigint {
  const one = 1n << 200n;
  const halvings = 12n;
  const argument = ((one * BigInt(k) ** 2n * denominator) / (2n * numerator)) >> halvings;
  let [sum, term] = [0n, one];
  for (let n = 1n; term > 0n; n++) {
    sum += n % 2n === 1n ? term : -term;
    term = (term * argument) / (n * one);
  }
  for (let n = 0n; n < halvings; n++) sum = (sum * sum) / one;
  return sum;
}

/** Probability of |k| as the table has it, in units of 2^-128. */
function tabulated({ first, rest }: ReturnType<typeof noiseTable>, k: number): bigint {
  const at = (entry: number): bigint => {
    if (entry < 0) return 0n;
    if (entry >= first.length) return 1n << 128n;
    const words = [first[entry], rest[3 * entry], rest[3 * entry + 1], rest[3 * entry + 2]];
    return words.reduce<bigint>((value, word) => (value << 32n) | BigInt(word ?? 0), 0n);
  };
  return at(k) - at(k - 1);
}

describe('the discrete Gaussian', () => {
  it.each([
    [16, [16n, 1n]],
    [20.25, [81n, 4n]],
    [479.0625, [7665n, 16n]],
  ] as const)('has for the variance %d the exact probabilities, to 2^-110', (variance, fraction) => {
    const table = noiseTable(variance);
    const most = table.first.length;
    const weights = Array.from({ length: most + 1 }, (_, k) => slowWeight(k, fraction) * (k === 0 ? 1n : 2n));
    const total = weights.reduce((sum, weight) => sum + weight, 0n);
    let distance = 0n;
    for (const [k, weight] of weights.entries()) {
      const difference = tabulated(table, k) - (weight << 128n) / total;
      distance += difference < 0n ? -difference : difference;
    }
    expect(distance).toBeLessThan(1n << 18n);
    // Outcomes beyond the table are rarer than that, too.
    expect(2n * slowWeight(most + 1, fraction)).toBeLessThan(total >> 128n);
  });

  it('is drawn with its probabilities', () => {
    const [variance, draws] = [16, 400_000];
    const vector = new Uint32Array(draws);
    addNoiseInPlace(vector, noiseTable(variance), RING_32, wordsOf(7));
    const counts = new Map<number, number>();
    for (const residue of vector) {
      const drawn = toSigned(residue, RING_32);
      counts.set(drawn, (counts.get(drawn) ?? 0) + 1);
    }
    const total = Array.from({ length: 201 }, (_, n) => Math.exp(-((n - 100) ** 2) / (2 * variance)));
    const norm = total.reduce((sum, weight) => sum + weight, 0);
    let chiSquared = 0;
    for (let k = -16; k <= 16; k++) {
      const expected = (draws * Math.exp(-(k ** 2) / (2 * variance))) / norm;
      chiSquared += ((counts.get(k) ?? 0) - expected) ** 2 / expected;
    }
    // 33 cells: beyond 70 lies one run in 5,000.
    expect(chiSquared).toBeLessThan(70);
  });

  it('takes the sign from the last bit, and the entry from the others', () => {
    const table = noiseTable(16);
    const drawnBy = (words: readonly number[]): number => {
      const vector = new Uint32Array(1);
      addNoiseInPlace(vector, table, ring(16), (target) => target.set(words));
      return toSigned(vector[0] as number, ring(16));
    };
    const last = (k: number): readonly number[] => [
      table.first[k] as number,
      ...Array.from(table.rest.subarray(3 * k, 3 * k + 3)),
    ];
    expect(drawnBy([0, 0, 0, 0])).toBe(0);
    expect(drawnBy([0, 0, 0, 1])).toBe(0);
    // A draw that equals a bound is not below it.
    expect(drawnBy(last(4))).toBe(5);
    const [a, b, c, d] = last(4) as [number, number, number, number];
    expect(drawnBy([a, b, c, d | 1])).toBe(-5);
    expect(drawnBy([a, b, c - 1, 0xffff_fffe])).toBe(4);
    const most = table.first.length;
    expect(drawnBy([0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0xffff_fffe])).toBe(most);
    expect(drawnBy([0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff])).toBe(-most);
  });

  it('takes four words per draw, for every outcome', () => {
    let asked = 0;
    const vector = new Uint32Array(10_000);
    addNoiseInPlace(vector, noiseTable(16), RING_32, (target) => {
      asked += target.length;
      wordsOf(3)(target);
    });
    expect(asked).toBe(4 * 4096 * 3);
  });

  it('wraps around the group on both sides', () => {
    const table = noiseTable(16);
    const [up, down] = [new Uint32Array([65_535]), new Uint32Array([1])];
    const a = Array.from(table.rest.subarray(12, 15));
    const bound = [table.first[4] as number, ...a];
    addNoiseInPlace(up, table, ring(16), (target) => target.set(bound));
    addNoiseInPlace(down, table, ring(16), (target) => target.set([...bound.slice(0, 3), (bound[3] as number) | 1]));
    expect([up[0], down[0]]).toEqual([4, 65_532]);
  });

  it('refuses a variance that it has no table for', () => {
    for (const variance of [0, 0.2, Number.NaN, 2 ** 33]) expect(() => noiseTable(variance)).toThrow('variance');
  });
});
