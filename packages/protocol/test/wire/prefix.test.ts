import { RING_32, ring, weightScale } from '@basa/masking';
import { describe, expect, it } from 'vitest';
import { judgePrefix, meanAgeOf, prefixElements } from '../../src/index.ts';
import { writePrefix } from '../../src/wire/prefix.ts';

const descriptor: Parameters<typeof judgePrefix>[0] = {
  modulus: RING_32,
  weightScale: weightScale(4, RING_32),
  version: 100,
  versions: 'unsafeMixed',
  maxStaleness: 10,
  metrics: [
    { name: 'loss', low: 0, high: 8 },
    { name: 'accuracy', low: 0, high: 1 },
  ],
  privacy: undefined,
  staleness: { kind: 'constant' },
};

function sumOf(inputs: readonly Parameters<typeof writePrefix>[2][], of = descriptor): Uint32Array {
  const total = new Uint32Array(prefixElements(of));
  for (const input of inputs) {
    const vector = new Uint32Array(total.length);
    writePrefix(vector, of, input);
    for (const [n, word] of vector.entries()) total[n] = (total[n] as number) + word;
  }
  return total;
}

const honest = [97, 100, 103, 100].map((trainedOn, n) => ({
  weight: 65_536,
  trainedOn,
  metrics: { loss: n, accuracy: n / 4 },
}));

describe("the words before an update of a buffer of one version, x' = [1, 0, 0, 0 | w | metrics | x]", () => {
  const one = { ...descriptor, versions: 'one' } as const;

  it('have no word for the age, which the version of the buffer gives exactly', () => {
    expect(prefixElements(one)).toBe(prefixElements(descriptor) - 1);
    const verdict = judgePrefix(one, sumOf(honest, one), 4);
    expect(verdict).toMatchObject({ versionSum: undefined, metrics: { loss: expect.closeTo(1.5, 4) } });
    expect(meanAgeOf(one, { versionSum: undefined, accepted: 4, now: 103 })).toBe(3);
  });
});

describe("the words before an update with mixed versions, x' = [1, 0, 0, 0 | w | v | metrics | x]", () => {
  it('show the server the mean age of a sum and no single one', () => {
    const verdict = judgePrefix(descriptor, sumOf(honest), 4);
    if (verdict.kind !== 'good') throw new Error(verdict.why);
    // Applied to version 105: ages 8, 5, 2, 5.
    expect(meanAgeOf(descriptor, { ...verdict, accepted: 4, now: 105 })).toBe(5);
    expect(verdict.weightSum).toBe(4 * 65_536);
  });

  it('carry versions newer and older than the draw, and cap them at M', () => {
    const age = (trainedOn: number): number => {
      const verdict = judgePrefix(descriptor, sumOf([{ ...(honest[0] as (typeof honest)[0]), trainedOn }]), 1);
      if (verdict.kind !== 'good') throw new Error(verdict.why);
      return meanAgeOf(descriptor, { ...verdict, accepted: 1, now: 120 });
    };
    expect([90, 100, 108, 110, 115].map(age)).toEqual([30, 20, 12, 10, 10]);
  });

  it('give the means of metrics, clipped to their range', () => {
    const verdict = judgePrefix(descriptor, sumOf(honest), 4);
    expect(verdict).toMatchObject({ metrics: { loss: expect.closeTo(1.5, 4), accuracy: expect.closeTo(0.375, 4) } });
    const far = sumOf([{ weight: 1, trainedOn: 100, metrics: { loss: 1e9, accuracy: -5 } }]);
    expect(judgePrefix(descriptor, far, 1)).toMatchObject({ metrics: { loss: 8, accuracy: 0 } });
  });

  it('let one liar set the mean of a metric and the mean age to anything in their ranges, and no further', () => {
    const total = sumOf(honest);
    // The liar can use the room that honest devices leave: its own words are any residues.
    const lie = (word: number, sum: number): number => {
      const own = (sum - (total[word] as number)) >>> 0;
      return ((total[word] as number) + own) >>> 0;
    };
    const told = total.slice();
    for (const [word, sum] of [
      [5, 0],
      [6, 4 * 65_536],
      [7, 0],
    ] as const)
      told[word] = lie(word, sum);
    const verdict = judgePrefix(descriptor, told, 4);
    if (verdict.kind !== 'good') throw new Error(verdict.why);
    expect(verdict.metrics).toEqual({ loss: 8, accuracy: 0 });
    expect(meanAgeOf(descriptor, { ...verdict, accepted: 4, now: 105 })).toBe(15);
  });

  it.each([
    ['a guard word', 1, 7, 'guard words'],
    ['the count', 0, 3, 'guard words'],
    ['too small a weight', 4, 3, 'sum of weights'],
    ['too large a weight', 4, 4 * 65_536 + 1, 'sum of weights'],
    ['a version out of range', 5, 2 * 10 * 4 + 1, 'sum of versions'],
    ['a metric out of range', 6, 4 * 65_536 + 1, 'metric loss'],
    ['a negative metric', 7, 2 ** 32 - 1, 'metric accuracy'],
  ])('quarantine a sum with %s', (_, word, value, why) => {
    const total = sumOf(honest);
    total[word] = value;
    expect(judgePrefix(descriptor, total, 4)).toMatchObject({ kind: 'quarantine', why: expect.stringContaining(why) });
  });

  it('read sums of versions above half the ring as they are', () => {
    const small = {
      ...descriptor,
      modulus: ring(8),
      weightScale: weightScale(4, ring(8)),
      maxStaleness: 31,
      metrics: [],
    };
    const inputs = Array(4).fill({ weight: 1, trainedOn: 131, metrics: {} });
    const verdict = judgePrefix(small, sumOf(inputs, small), 4);
    expect(verdict).toMatchObject({ kind: 'good', versionSum: 4 * 62 });
    expect(meanAgeOf(small, { versionSum: 4 * 62, accepted: 4, now: 131 })).toBe(0);
  });
});
