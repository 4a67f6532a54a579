/** A metric's word is its place in its range, and the mean comes back from the sum of words. */
import { encodePolicy } from '@basa/protocol';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';
import { metricMean, metricWord } from '../../src/wire/metrics.ts';

const RANGE = { name: 'loss', low: 2, high: 10 };
const SCALE = 16;

describe('the word of a metric', () => {
  it.each([
    [2, 0],
    [10, 16],
    [6, 8],
    [4.2, 4],
    [4.3, 5],
    [-100, 0],
    [100, 16],
  ])('of %d is %d', (value, word) => {
    expect(metricWord(RANGE, value, SCALE)).toBe(word);
  });

  it('gives the mean back from a sum', () => {
    expect(metricMean(RANGE, 0, 3, SCALE)).toBe(2);
    expect(metricMean(RANGE, 48, 3, SCALE)).toBe(10);
    expect(metricMean(RANGE, 12, 3, SCALE)).toBe(4);
  });
});

describe('a range', () => {
  const { policy } = nodeFederation({ bufferSize: 2 });
  const written = (low: number, high: number) => () =>
    encodePolicy({ ...policy, metrics: [{ name: 'loss', low, high }] });

  it.each([
    [3, 3, 'low < high'],
    [4, 3, 'low < high'],
    [-1e308, 1e308, 'too wide'],
  ])('from %d to %d is refused: no word could stand for a place in it', (low, high, why) => {
    expect(written(low, high)).toThrow(why);
    expect(written(-8e307, 8e307)).not.toThrow();
  });
});
