import { describe, expect, it } from 'vitest';
import { gamma } from '../src/data/partition-dirichlet.ts';
import { RandomStream, randomStream } from '../src/index.ts';
import { exp, ln, power } from '../src/numbers/exact-math.ts';

describe('a random stream', () => {
  it('is xoshiro128**: the published draws from the state 1, 2, 3, 4', () => {
    const random = new RandomStream(1, 2, 3, 4);
    expect(Array.from({ length: 4 }, () => random.u32())).toEqual([11_520, 0, 5_927_040, 70_819_200]);
    expect(new RandomStream(0, 0, 0, 0).u32()).toBe(0);
  });

  it('gives the same draws for the same seed and names in every version', () => {
    const random = randomStream(7, 'batch', 3, 1);
    expect(Array.from({ length: 4 }, () => random.u32())).toEqual(FROZEN);
    expect(randomStream(7, 'batch', 3, 1).u32()).toBe(FROZEN[0]);
  });

  it('gives other draws for any other seed or name', () => {
    const streams = [
      randomStream(7),
      randomStream(8),
      randomStream(7, 'a', 1),
      randomStream(7, 'a1'),
      randomStream(7, 'a', '1'),
      randomStream(7, 1, 'a'),
    ];
    expect(new Set(streams.map((random) => random.u32())).size).toBe(streams.length);
  });

  it('has uniform, exponential and normal draws with the right moments', () => {
    const random = randomStream(1, 'moments');
    const draws = 40_000;
    const counts = new Array<number>(7).fill(0);
    for (let n = 0; n < draws; n++) {
      const label = random.below(7);
      counts[label] = (counts[label] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count / draws - 1 / 7)).toBeLessThan(0.02);
    expect(moments(() => random.exponential())).toEqual([near(1, 0.03), near(1, 0.08)]);
    expect(moments(() => random.normal())).toEqual([near(0, 0.03), near(1, 0.05)]);
    expect(moments(() => gamma(0.5, random))).toEqual([near(0.5, 0.02), near(0.5, 0.05)]);
    expect(moments(() => gamma(3, random))).toEqual([near(3, 0.05), near(3, 0.2)]);
  });

  it('refuses a bound it cannot draw below', () => {
    expect(() => randomStream(1).below(0)).toThrow(RangeError);
  });

  it('shuffles into a permutation', () => {
    const order = randomStream(5).shuffle(Uint32Array.from({ length: 100 }, (_, n) => n));
    expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => n));
    expect(order[0] === 0 && order[1] === 1 && order[2] === 2).toBe(false);
  });
});

describe('exp and ln from exact operations', () => {
  it('agree with Math to the last bits', () => {
    for (let x = -30; x < 30; x += 0.37) {
      expect(Math.abs(exp(x) / Math.exp(x) - 1)).toBeLessThan(1e-15);
      expect(Math.abs(ln(Math.exp(x)) - x)).toBeLessThan(1e-14);
    }
    expect(Math.abs(power(3.7, -1.3) / 3.7 ** -1.3 - 1)).toBeLessThan(1e-14);
  });

  it('overflow and underflow at the limits of doubles', () => {
    expect([exp(0), exp(-1000), exp(1000), exp(Number.NaN)]).toEqual([1, 0, Number.POSITIVE_INFINITY, Number.NaN]);
    expect([ln(1), ln(0), ln(-1), ln(Number.POSITIVE_INFINITY)]).toEqual([
      0,
      Number.NEGATIVE_INFINITY,
      Number.NaN,
      Number.POSITIVE_INFINITY,
    ]);
    expect([power(4, 0.5), power(4, -0.5), power(5, 0), power(5, 1), power(5, -1)]).toEqual([2, 0.5, 1, 5, 0.2]);
  });
});

const FROZEN = [3_723_457_912, 1_158_636_422, 3_302_039_172, 3_799_969_333];

function moments(draw: () => number): [number, number] {
  const values = Array.from({ length: 40_000 }, draw);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return [mean, values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length];
}

function near(value: number, by: number): unknown {
  return {
    asymmetricMatch: (found: number) => Math.abs(found - value) <= by,
    toString: () => `within ${by} of ${value}`,
  };
}
