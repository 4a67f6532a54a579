/** The work of opening a sum is shared: every element once, and a part for every worker. */
import { describe, expect, it } from 'vitest';
import { MAX_SHARD_ELEMENTS, shardsOf } from '../../src/closing/model-keeper.ts';

describe('the shards of a sum', () => {
  it.each([
    [1, 1],
    [7852, 4],
    [1_000_002, 1],
    [1_000_002, 2],
    [1_000_002, 16],
    [50_000_002, 2],
  ])(
    'of %i elements for %i workers are all of them, in order, and begin where keystream and bytes do',
    (elements, workers) => {
      const shards = shardsOf(elements, workers);
      expect(shards[0]?.from).toBe(0);
      expect(shards.at(-1)?.to).toBe(elements);
      for (const [n, { from, to }] of shards.entries()) {
        expect(from % 16).toBe(0);
        expect(to - from).toBeGreaterThan(0);
        expect(to - from).toBeLessThanOrEqual(MAX_SHARD_ELEMENTS);
        if (n > 0) expect(from).toBe(shards[n - 1]?.to);
      }
    },
  );

  it('give every worker the same amount of work, after a small first shard that the others wait for', () => {
    const [first, ...rest] = shardsOf(1_000_002, 4);
    expect(first).toEqual({ from: 0, to: 4096 });
    expect(rest.length).toBe(8);
    const sizes = rest.map(({ from, to }) => to - from);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(8 * 1024);
  });

  it('are not cut so small that preparing the masks is most of the work, nor at all for one worker', () => {
    expect(shardsOf(60_000, 8)).toEqual([{ from: 0, to: 60_000 }]);
    expect(shardsOf(1_000_002, 1)).toEqual([{ from: 0, to: 1_000_002 }]);
  });
});
