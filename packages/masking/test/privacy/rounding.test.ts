import { roundWithin, squaredBound } from '@basa/masking';
import { describe, expect, it } from 'vitest';

const quantizer = { level: 40, clip: 1 };

const never = (target: Uint32Array): void => void target.fill(0xffff_ffff);
const always = (target: Uint32Array): void => void target.fill(0);

function norm(integers: Int32Array): number {
  return Math.sqrt(integers.reduce((sum, integer) => sum + integer * integer, 0));
}

describe('rounding within a bound', () => {
  it('clips the whole update to the norm, and says so', () => {
    const rounded = roundWithin(new Float32Array([3, -4]), quantizer, never);
    expect(rounded).toMatchObject({ norm: 5 });
    // (0.6, -0.8) times 40, rounded down because nothing rounds up.
    expect(Array.from(rounded.integers, (x) => Math.abs(x))).toEqual([24, 32]);
    const within = roundWithin(new Float32Array([0.5, -0.5]), quantizer, never, 0.5);
    expect(within).toMatchObject({ norm: Math.SQRT1_2, integers: new Int32Array([10, -10]) });
  });

  it('draws again until the result is short enough', () => {
    const values = new Float32Array(100).fill(0.1);
    const coarse = { level: 1, clip: 1 };
    expect(squaredBound(100, coarse)).toBeLessThan(100);
    let tries = 0;
    const rounded = roundWithin(values, coarse, (target) => {
      tries++;
      if (tries === 1) always(target);
      else never(target);
    });
    expect(tries).toBe(2);
    expect(norm(rounded.integers) ** 2).toBeLessThanOrEqual(squaredBound(100, coarse));
  });

  it('gives up if the random words never change', () => {
    expect(() => roundWithin(new Float32Array(100).fill(0.1), { level: 1, clip: 1 }, always)).toThrow('not random');
  });

  it('has the bound of Kairouz, Liu and Steinke', () => {
    // c^2 + d/4 + sqrt(2 ln(1/b)) (c + sqrt(d)/2) with b = e^(-1/2), whose root is 1.
    expect(squaredBound(16, { level: 10, clip: 2 })).toBeCloseTo(400 + 4 + 20 + 2, 9);
  });

  it('makes zeros of an update with an entry that is not finite', () => {
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
      expect(roundWithin(new Float32Array([1, wrong]), quantizer, never)).toEqual({
        integers: new Int32Array(2),
        norm: 0,
      });
  });

  it('rejects an invalid weight', () => {
    for (const weight of [0, 1.1, Number.NaN])
      expect(() => roundWithin(new Float32Array(1), quantizer, never, weight)).toThrow('weight');
  });
});
