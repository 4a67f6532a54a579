/** Masks hide: exactly, in groups so small that every mask can be enumerated, and statistically, in what a server stores. */

import { type Keystream, modulusName, RING_32 } from '@basa/masking';
import { granted } from '@basa/protocol';
import {
  chiSquareTwoSample,
  chiSquareUniform,
  type Environment,
  fixedVersusRandom,
  PaperFederation,
  type Suspicion,
  uniformityOf,
  welch,
} from '@basa/simulator';
import { nodeEnvironment } from '@basa/simulator/node';
import { describe, expect, it } from 'vitest';
import { deltaOf, GROUPS, MODES, userNumbered } from '../../src/proofs/uniformity/uploads.ts';

describe('p-values', () => {
  it.each([
    [[60, 40], 0.0455],
    [[10, 10, 10, 10, 10, 10], 1],
    [[5, 8, 9, 8, 10, 20], 0.01991],
  ])('of chi-square against uniform counts %j are %d', (counts, pValue) => {
    expect(chiSquareUniform(counts).pValue).toBeCloseTo(pValue, 4);
  });

  it('of chi-square at the table values of 255 degrees are 0.05 and 0.001', () => {
    const counts = (statistic: number): number[] => {
      // Half the bins a little above the mean, half below.
      const off = Math.sqrt((statistic * 1000) / 256);
      return Array.from({ length: 256 }, (_, n) => 1000 + (n % 2 === 0 ? off : -off));
    };
    expect(chiSquareUniform(counts(293.2478)).pValue).toBeCloseTo(0.05, 5);
    expect(chiSquareUniform(counts(330.5197)).pValue).toBeCloseTo(0.001, 6);
  });

  it('of two samples depend only on their difference', () => {
    expect(chiSquareTwoSample([10, 20, 30], [20, 40, 60]).pValue).toBeCloseTo(1, 10);
    expect(chiSquareTwoSample([30, 10], [10, 30]).statistic).toBeCloseTo(20, 10);
  });

  it("of Welch's t are those of the two tails", () => {
    expect(welch([500, 500], [500, 500]).pValue).toBeCloseTo(1, 10);
    const { statistic, pValue } = welch([500, 500], [450, 550]);
    expect(statistic).toBeCloseTo(-2.2405, 3);
    expect(pValue).toBeCloseTo(0.02506, 4);
  });
});

describe('the data that a server stores', () => {
  /** Runs repeat with their seeds: a p-value is the same each time, so that nothing here can be unlucky tomorrow. */
  const QUIET = 1e-5;
  const ALARM = 1e-12;

  const cases = MODES.flatMap(([mode, uploads]) =>
    GROUPS.map((modulus) => ({ mode, uploads, modulus, name: modulusName(modulus) })),
  );
  const worst = ([first]: readonly Suspicion[]): number => first?.pValue ?? Number.NaN;

  it.each(cases)(
    'in $mode mode and the $name is uniform, each upload and every two together',
    ({ uploads, modulus }) => {
      expect(worst(uniformityOf(uploads({ modulus }), modulus))).toBeGreaterThan(QUIET);
    },
  );

  it.each(cases)(
    'in $mode mode and the $name does not show whether the updates are fixed or random',
    ({ uploads, modulus }) => {
      const [fixed, random] = [uploads({ modulus }), uploads({ modulus, isFixed: false, seed: 12 })];
      expect(worst(fixedVersusRandom(fixed, random, modulus))).toBeGreaterThan(QUIET);
    },
  );

  /** The outside with another keystream: what its words become. */
  function biased(change: (word: number) => number): Environment {
    const { tools } = nodeEnvironment;
    const keystream: Keystream = {
      read(request) {
        const bytes = tools.keystream.read(request).slice();
        const view = new DataView(bytes.buffer);
        for (let at = 0; at + 4 <= bytes.length; at += 4) view.setUint32(at, change(view.getUint32(at, true)), true);
        return bytes;
      },
    };
    return { ...nodeEnvironment, tools: { ...tools, keystream } };
  }

  const BIASES = [
    ['a top bit that is stuck', (word: number) => word & 0x7fff_ffff],
    ['a bottom bit that is stuck', (word: number) => (word | 1) >>> 0],
    ['words reduced by mod 10^9', (word: number) => word % 10 ** 9],
  ] as const;
  const planted = MODES.flatMap(([mode, uploads]) =>
    BIASES.map(([bias, change]) => ({ mode, uploads, bias, environment: biased(change) })),
  );

  it.each(planted)('in $mode mode betrays $bias to both tests', ({ uploads, environment }) => {
    const [fixed, random] = [uploads({ environment }), uploads({ environment, isFixed: false, seed: 12 })];
    expect(worst(uniformityOf(fixed, RING_32))).toBeLessThan(ALARM);
    expect(worst(fixedVersusRandom(fixed, random, RING_32))).toBeLessThan(ALARM);
  });

  it('shows a paper user who uploads twice under the same seeds', () => {
    const world = new PaperFederation(nodeEnvironment, {
      bufferSize: 3,
      dimension: 1 << 16,
      modulus: RING_32,
      level: 1000,
    });
    for (const k of [0, 1]) granted(world.upload(userNumbered(k), world.prepare(userNumbered(k), deltaOf(false, k))));
    const [first, again] = [2, 3].map((n) => {
      const { y } = world.prepare(userNumbered(2), deltaOf(false, n));
      world.now = (world.now + 100) as typeof world.now;
      return y;
    }) as [Uint32Array, Uint32Array];
    expect(worst(uniformityOf([first], RING_32))).toBeGreaterThan(QUIET);
    expect(worst(uniformityOf([first, again], RING_32))).toBeLessThan(ALARM);
  });
});
