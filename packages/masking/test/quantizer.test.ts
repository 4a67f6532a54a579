import { seededWords } from '@basa/simulator/node';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  dequantizeSum,
  FIELD,
  firstOutOfRange,
  type Modulus,
  quantize,
  quantizedBound,
  RING_32,
  ring,
  toResidue,
  toSigned,
} from '../src/index.ts';
import type { Quantizer } from '../src/quantizer.ts';

const DRAWS = 1_000_000;

describe('the stochastic quantiser', () => {
  it.each([0.3, -0.3, 0.001, -0.9999, 0.75, -0.5])('is unbiased within 5 sigma over 10^6 draws of %d', (x) => {
    const level = 4;
    const drawn = integers(new Float64Array(DRAWS).fill(x), { level, clip: 1, modulus: FIELD }, 1);
    const below = Math.floor(level * x);
    const fraction = level * x - below;
    const ups = drawn.filter((X) => X === below + 1).length;
    expect(drawn.every((X) => X === below || X === below + 1)).toBe(true);
    const sigma = Math.sqrt(DRAWS * fraction * (1 - fraction));
    expect(Math.abs(ups - DRAWS * fraction)).toBeLessThanOrEqual(5 * sigma);
  });

  it('rounds neighbouring entries independently: pairs go up together as often as the product says', () => {
    const drawn = integers(new Float64Array(DRAWS).fill(0.125), { level: 4, clip: 1, modulus: RING_32 }, 2);
    let both = 0;
    for (let k = 0; k + 1 < DRAWS; k++) if (drawn[k] === 1 && drawn[k + 1] === 1) both++;
    // Variance of the number of adjacent pairs: (p^2 + 2 p^3 - 3 p^4) a pair.
    const sigma = Math.sqrt(DRAWS * (0.25 + 0.25 - 3 / 16));
    expect(Math.abs(both - DRAWS / 4)).toBeLessThanOrEqual(5 * sigma);
  });

  it.each<[string, Quantizer]>([
    ['a ring of 20 bits', { level: 2 ** 15, clip: 1, modulus: ring(20) }],
    ['the ring of 32 bits', { level: 2 ** 30, clip: 1, modulus: RING_32 }],
    ['the field', { level: 2 ** 15, clip: 0.5, modulus: FIELD }],
    ['the field beyond 2^31, where sums wrap', { level: 2 ** 34, clip: 0.9, modulus: FIELD }],
  ])('is floor(c x), plus one if the word is below the fraction, entry by entry: %s', (_, quantizer) => {
    const { level, clip, modulus } = quantizer;
    const values = Float32Array.from({ length: 20_000 }, (__, k) => Math.sin(k) * (k % 7 === 0 ? 1e-6 : 1));
    const words = new Uint32Array(values.length);
    const draw = seededWords(3);
    for (let start = 0; start < words.length; start += 16_384) draw(words.subarray(start, start + 16_384));
    const size = modulus.kind === 'field' ? 2 ** 32 - 5 : 2 ** modulus.bits;
    const expected = Uint32Array.from(values, (value, k) => {
      const scaled = level * (0.7 * Math.max(-clip, Math.min(clip, value)));
      const below = Math.floor(scaled);
      const integer = (words[k] as number) * 2 ** -32 < scaled - below ? below + 1 : below;
      return integer < 0 ? integer + size : integer;
    });
    let drawn = 0;
    const replay = (target: Uint32Array): void => {
      target.set(words.subarray(drawn, drawn + target.length));
      drawn += target.length;
    };
    const found = quantize(values, quantizer, replay, 0.7);
    expect(found.vector).toEqual(expected);
  });

  it('maps -1 to q - 1 in every group', () => {
    expect(toResidue(-1, FIELD)).toBe(4_294_967_290);
    for (const modulus of [FIELD, RING_32, ring(20)]) {
      const minusOne = quantized(Float32Array.of(-1), { level: 1, clip: 1, modulus }, 3);
      expect(minusOne.vector[0]).toBe(toResidue(-1, modulus));
      expect(toSigned(minusOne.vector[0] as number, modulus)).toBe(-1);
    }
  });

  it('never leaves its bound and never errs by a whole step, for any entries', () => {
    const quantizer = fc.record({
      level: fc.integer({ min: 1, max: 2 ** 20 }),
      clip: fc.double({ min: 1e-6, max: 1000, noNaN: true }),
      modulus: fc.constant<Modulus>(RING_32),
    });
    const entries = fc.array(fc.double({ min: -2000, max: 2000, noNaN: true }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(quantizer, entries, fc.nat(1000), (q, values, seed) => {
        for (const [k, X] of integers(Float64Array.from(values), q, seed).entries()) {
          const clipped = Math.min(q.clip, Math.max(-q.clip, values[k] as number));
          expect(Math.abs(X)).toBeLessThanOrEqual(quantizedBound(q));
          expect(Math.abs(X - q.level * clipped)).toBeLessThan(1);
        }
      }),
    );
  });

  it('counts clipped entries, and clips before it weighs', () => {
    const result = quantized(Float32Array.of(0.5, 3, -3, 1, -1), { level: 100, clip: 1, modulus: RING_32 }, 4, 0.5);
    expect(result.clipped).toBe(2);
    expect([...result.vector].map((residue) => toSigned(residue, RING_32))).toEqual([25, 50, -50, 50, -50]);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'makes zeros of an update with an entry of %d',
    (bad) => {
      const values = new Float32Array(20_000).fill(0.5);
      values[17_123] = bad;
      expect(quantize(values, { level: 4, clip: 1, modulus: RING_32 }, seededWords(5))).toEqual({
        vector: new Uint32Array(20_000),
        clipped: 0,
      });
    },
  );

  it.each([0, -1, 1.5, Number.NaN])('refuses a weight of %d', (weight) => {
    expect(() =>
      quantize(new Float32Array(1), { level: 4, clip: 1, modulus: RING_32 }, seededWords(6), weight),
    ).toThrow('weight');
  });

  it('gives the same result from the same stream', () => {
    const values = Float32Array.from({ length: 40_000 }, (_, k) => Math.sin(k));
    const quantizer = { level: 1000, clip: 1, modulus: FIELD };
    expect(quantized(values, quantizer, 7)).toEqual(quantized(values, quantizer, 7));
    expect(quantized(values, quantizer, 7)).not.toEqual(quantized(values, quantizer, 8));
  });
});

describe('a dequantised sum', () => {
  it('is the weighted mean of what was quantised, negative entries included', () => {
    const modulus = FIELD;
    const sum = Uint32Array.from([30, -45, 0].map((X) => toResidue(X, modulus)));
    const mean = dequantizeSum(sum, { level: 10, modulus }, { weightSum: 96, weightScale: 64 });
    expect([...mean]).toEqual([2, -3, 0]);
  });

  it('is plain division by the count when every weight is the scale', () => {
    const mean = dequantizeSum(
      Uint32Array.of(60),
      { level: 10, modulus: RING_32 },
      { weightSum: 3 * 64, weightScale: 64 },
    );
    expect(mean[0]).toBe(2);
  });

  it('shows an entry no honest set can have', () => {
    const sum = Uint32Array.from([10, -10, 11].map((X) => toResidue(X, ring(20))));
    expect(firstOutOfRange(sum, ring(20), 11)).toBe(-1);
    expect(firstOutOfRange(sum, ring(20), 10)).toBe(2);
    expect(firstOutOfRange(Uint32Array.of(toResidue(-11, FIELD)), FIELD, 10)).toBe(0);
  });
});

function quantized(values: Float32Array | Float64Array, quantizer: Quantizer, seed: number, weight?: number) {
  return quantize(values, quantizer, seededWords(seed), weight);
}

function integers(values: Float64Array, quantizer: Quantizer, seed: number): number[] {
  return Array.from(quantized(values, quantizer, seed).vector, (residue) => toSigned(residue, quantizer.modulus));
}
