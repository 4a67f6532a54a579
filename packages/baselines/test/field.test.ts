/** Fields, interpolation, Shamir and the code of LightSecAgg: golden values, slow twins, and what too few shares say. */
import { FIELD_PRIME, Secret } from '@basa/masking';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainCombinationKernel } from '../src/field/combination-kernel.ts';
import {
  BINARY_FIELD,
  interpolation,
  primeField,
  Reconstruction,
  reconstructElements,
  shareElements,
  shareSecret,
} from '../src/field/field.ts';
import { MaskCode } from '../src/lightsecagg/mask-code.ts';
import { fedmlCode, publishedCode } from '../src/lightsecagg/parameters.ts';
import { seededBytes, tuples } from './support.ts';

const word = fc.integer({ min: 0, max: FIELD_PRIME - 1 });

describe('fields', () => {
  it('the prime field multiplies as BigInt does, at the ends of its range too', () => {
    const field = primeField(FIELD_PRIME);
    fc.assert(
      fc.property(
        fc.oneof(word, fc.constantFrom(0, 1, FIELD_PRIME - 1)),
        fc.oneof(word, fc.constant(FIELD_PRIME - 1)),
        (a, b) => {
          expect(BigInt(field.multiply(a, b))).toBe((BigInt(a) * BigInt(b)) % BigInt(FIELD_PRIME));
        },
      ),
    );
  });

  it.each([primeField(97), primeField(FIELD_PRIME), BINARY_FIELD])('every element has an inverse', (field) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: field.order - 1 }), (a) => {
        expect(field.multiply(a, field.invert(a))).toBe(1);
        expect(field.add(field.subtract(1, a), a)).toBe(1);
      }),
    );
  });

  it('the powers of x pass through all 65,535 elements of GF(2^16) but zero: its polynomial is primitive', () => {
    const seen = new Set<number>();
    for (let element = 1, n = 0; n < 65_535; n++, element = BINARY_FIELD.multiply(element, 2)) seen.add(element);
    expect(seen.size).toBe(65_535);
  });
});

describe('Shamir', () => {
  const field = primeField(97);

  it('shares 42 by 42 + 5x modulo 97 as 47, 52, 57, and any two give it back', () => {
    const scheme = { threshold: 2, points: [1, 2, 3] };
    const shares = shareElements(field, Uint32Array.of(42), scheme, () => Uint32Array.of(5));
    expect(shares.map(([share]) => share)).toEqual([47, 52, 57]);
    for (const pair of [
      [0, 1],
      [0, 2],
      [1, 2],
    ]) {
      const coefficients = interpolation(
        field,
        pair.map((n) => n + 1),
      ).coefficientsAt(0);
      const chosen = pair.map((n) => shares[n] as Uint32Array);
      expect(reconstructElements(field, coefficients, chosen)).toEqual(Uint32Array.of(42));
    }
  });

  it('t - 1 shares do not depend on the secret: every value equally often, over all polynomials', () => {
    const tiny = primeField(5);
    const scheme = { threshold: 3, points: [1, 2, 3, 4] };
    for (const holders of [
      [0, 1],
      [1, 3],
      [2, 3],
    ]) {
      for (let secret = 0; secret < 5; secret++) {
        const seen = new Map<string, number>();
        for (const polynomial of tuples(5, 2)) {
          const left = [...polynomial];
          const shares = shareElements(tiny, Uint32Array.of(secret), scheme, () =>
            Uint32Array.of(left.pop() as number),
          );
          const view = holders.map((holder) => shares[holder]?.[0]).join();
          seen.set(view, (seen.get(view) ?? 0) + 1);
        }
        expect([...seen.values()]).toEqual(new Array(25).fill(1));
      }
    }
  });

  it('any t of n shares of 32 bytes give them back, and the coefficients are computed once', () => {
    const reconstruction = new Reconstruction();
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.integer({ min: 1, max: 9 }),
        fc.nat(),
        (bytes, t, seed) => {
          const points = Array.from({ length: 9 }, (_, n) => n + 1);
          const shares = shareSecret(new Secret(bytes.slice()), { threshold: t, points }, seededBytes(seed));
          const first = seed % (10 - t);
          const secret = reconstruction.secretOf(points.slice(first, first + t), shares.slice(first, first + t));
          expect(secret.reveal()).toEqual(bytes);
        },
      ),
    );
  });
});

describe('the code of LightSecAgg, p = 97, N = 4, U = 3, T = 1', () => {
  const field = primeField(97);
  const kernel = plainCombinationKernel(97);
  const code = new MaskCode({ users: 4, survivors: 3, privacy: 1 }, field);
  const shares = (pieces: readonly number[][]): number[][] =>
    code
      .encode(
        pieces.map((piece) => Uint32Array.from(piece)),
        kernel,
      )
      .map((share) => [...share]);
  const first = shares([
    [10, 20],
    [30, 40],
    [7, 8],
  ]);
  const second = shares([
    [1, 2],
    [3, 4],
    [50, 60],
  ]);
  const weighted = (a: number, b: number): Uint32Array[] =>
    first.map((share, j) => Uint32Array.from(share, (value, k) => (a * value + b * (second[j]?.[k] ?? 0)) % 97));

  it('has the coefficients that were computed independently', () => {
    expect(code.rows.map((row) => [...row])).toEqual([
      [15, 73, 10],
      [10, 82, 6],
      [6, 89, 3],
      [3, 94, 1],
    ]);
  });

  it('makes the shares that were computed independently', () => {
    expect(first).toEqual([
      [82, 2],
      [80, 36],
      [35, 18],
      [44, 45],
    ]);
    expect(second).toEqual([
      [55, 49],
      [71, 29],
      [35, 63],
      [44, 54],
    ]);
  });

  it('opens the sum, and 3 z1 + 2 z2, from users 1, 3 and 4', () => {
    const decoded = (sums: readonly Uint32Array[]): number[][] =>
      code
        .decode(
          [0, 2, 3],
          [0, 2, 3].map((j) => sums[j] as Uint32Array),
          kernel,
        )
        .map((piece) => [...piece]);
    expect(weighted(1, 1).map((share) => [...share])).toEqual([
      [40, 51],
      [54, 65],
      [70, 81],
      [88, 2],
    ]);
    expect(decoded(weighted(1, 1))).toEqual([
      [11, 22],
      [33, 44],
    ]);
    expect(weighted(3, 2).map((share) => [...share])).toEqual([
      [65, 7],
      [91, 69],
      [78, 83],
      [26, 49],
    ]);
    expect(decoded(weighted(3, 2))).toEqual([
      [32, 64],
      [96, 31],
    ]);
  });

  it('shows T colluders nothing: for any mask their shares take every value equally often', () => {
    const tiny = new MaskCode({ users: 4, survivors: 3, privacy: 2 }, primeField(11));
    const small = plainCombinationKernel(11);
    for (const colluders of [
      [0, 1],
      [1, 3],
      [2, 3],
    ]) {
      for (const mask of [0, 1, 10]) {
        const seen = new Map<string, number>();
        for (const noise of tuples(11, 2)) {
          const made = tiny.encode(
            [mask, ...noise].map((value) => Uint32Array.of(value)),
            small,
          );
          const view = colluders.map((user) => made[user]?.[0]).join();
          seen.set(view, (seen.get(view) ?? 0) + 1);
        }
        expect([...seen.values()]).toEqual(new Array(121).fill(1));
      }
    }
  });

  it('rejects invalid parameters', () => {
    expect(() => new MaskCode({ users: 3, survivors: 4, privacy: 1 }, field)).toThrow('N >= U > T >= 0');
    expect(() => new MaskCode({ users: 3, survivors: 2, privacy: 2 }, field)).toThrow('N >= U > T >= 0');
  });

  it('has two parameter sets at N = 32: U = 0.7 N as published, U = N in FedML', () => {
    expect(publishedCode(32)).toEqual({ users: 32, survivors: 22, privacy: 16 });
    expect(fedmlCode(32)).toEqual({ users: 32, survivors: 32, privacy: 16 });
  });
});
