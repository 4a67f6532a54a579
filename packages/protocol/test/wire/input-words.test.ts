import { RING_32, weightScale } from '@basa/masking';
import { judgeBehind, judgePrefix, prefixElements, updateWords } from '@basa/protocol/internal/wire/input.ts';
import { describe, expect, it } from 'vitest';
import { writePrefix } from '../../src/wire/input.ts';

const rules: Parameters<typeof judgePrefix>[0] = {
  modulus: RING_32,
  weightScale: weightScale(4, RING_32),
  metrics: [
    { name: 'loss', low: 0, high: 8 },
    { name: 'accuracy', low: 0, high: 1 },
  ],
  privacy: undefined,
  bufferSize: 4,
  minimum: 4,
  oneShot: undefined,
};

function sumOf(inputs: readonly Parameters<typeof writePrefix>[2][]): Uint32Array {
  const total = new Uint32Array(prefixElements(rules));
  for (const input of inputs) {
    const vector = new Uint32Array(total.length);
    writePrefix(vector, rules, input);
    for (const [n, word] of vector.entries()) total[n] = (total[n] as number) + word;
  }
  return total;
}

const honest = [0, 1, 2, 3].map((n) => ({ weight: 65_536, metrics: { loss: n, accuracy: n / 4 } }));

describe("the words of x' = [1, 0, 0, 0 | w | metrics | x | 0, 0, 0, 0]", () => {
  it('show the server the sum of weights', () => {
    expect(prefixElements(rules)).toBe(7);
    expect(judgePrefix(rules, sumOf(honest), 4)).toMatchObject({ kind: 'good', weightSum: 4 * 65_536 });
  });

  it('give the means of metrics, clipped to their range', () => {
    const verdict = judgePrefix(rules, sumOf(honest), 4);
    expect(verdict).toMatchObject({ metrics: { loss: expect.closeTo(1.5, 4), accuracy: expect.closeTo(0.375, 4) } });
    const far = sumOf([{ weight: 1, metrics: { loss: 1e9, accuracy: -5 } }]);
    expect(judgePrefix(rules, far, 1)).toMatchObject({ metrics: { loss: 8, accuracy: 0 } });
  });

  it('let one liar set the mean of a metric to anything in its range, and no further', () => {
    // The liar can use the room that honest devices leave: its own words are any residues.
    const told = sumOf(honest);
    told[5] = 4 * 65_536;
    told[6] = 0;
    expect(judgePrefix(rules, told, 4)).toMatchObject({ metrics: { loss: 8, accuracy: 0 } });
  });

  it.each([
    ['the count', 0, 3, 'guard words'],
    ['the second guard word', 1, 7, 'guard words'],
    ['the third guard word', 2, 7, 'guard words'],
    ['the fourth guard word', 3, 7, 'guard words'],
    ['too small a weight', 4, 3, 'sum of weights'],
    ['too large a weight', 4, 4 * 65_536 + 1, 'sum of weights'],
    ['a metric out of range', 5, 4 * 65_536 + 1, 'metric loss'],
    ['a negative metric', 6, 2 ** 32 - 1, 'metric accuracy'],
  ])('quarantine a sum with %s', (_, word, value, why) => {
    const total = sumOf(honest);
    total[word] = value;
    expect(judgePrefix(rules, total, 4)).toMatchObject({ kind: 'quarantine', why: expect.stringContaining(why) });
  });

  it.each([0, 1, 2, 3])('quarantine a sum whose guard word %i behind the update is not 0', (n) => {
    const behind = new Uint32Array(4);
    expect(judgeBehind(behind)).toBeUndefined();
    behind[n] = 1;
    expect(judgeBehind(behind)).toMatchObject({ kind: 'quarantine', why: 'the guard words are wrong' });
  });

  it('are found again in every stretch of the vector', () => {
    const shape = { metrics: [], dimension: 20 };
    const words = Uint32Array.from({ length: 29 }, (_, n) => n);
    for (let cut = 1; cut < words.length; cut++) {
      const parts = [updateWords(shape, words.subarray(0, cut)), updateWords(shape, words.subarray(cut), cut)];
      expect(parts.flatMap(({ update }) => [...update])).toEqual([...words.subarray(5, 25)]);
      expect(parts.flatMap(({ behind }) => [...behind])).toEqual([25, 26, 27, 28]);
    }
  });
});
