/** A metric's word is its place in its range, and the mean comes back from the sum of words. */
import { ByteWriter } from '@basa/masking';
import { describe, expect, it } from 'vitest';
import { MAX_METRICS, metricMean, metricsField, metricWord } from '../../src/wire/training.ts';

const RANGE = { name: 'loss', low: 2, high: 10 };
const SCALE = 16;

describe('the masked word of a metric', () => {
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

describe('the metrics of a task', () => {
  const written = (...metrics: { name: string; low: number; high: number }[]) => {
    metricsField.write(new ByteWriter(), metrics);
  };

  it('are named and have a range', () => {
    written({ name: 'loss', low: 0, high: 1 }, { name: 'a'.repeat(32), low: -1, high: 0 });
    for (const name of ['', 'Loss', '1st', 'a b', 'a'.repeat(33)])
      expect(() => written({ name, low: 0, high: 1 })).toThrow(RangeError);
  });

  it.each([
    [3, 3, 'low < high'],
    [4, 3, 'low < high'],
    [-1e308, 1e308, 'too wide'],
  ])('have no range from %d to %d: no word could stand for a place in it', (low, high, why) => {
    expect(() => written({ name: 'loss', low, high })).toThrow(why);
    expect(() => written({ name: 'loss', low: -8e307, high: 8e307 })).not.toThrow();
  });

  it('are all different, and at most sixteen', () => {
    const many = Array.from({ length: MAX_METRICS + 1 }, (_, n) => ({ name: `m${n}`, low: 0, high: 1 }));
    written(...many.slice(1));
    expect(() => written(...many)).toThrow('at most 16 metrics, got 17');
    expect(() => written(...many.slice(0, 2), { name: 'm0', low: 0, high: 2 })).toThrow('two metrics are named "m0"');
  });
});
