/** The work of opening a sum is shared: every element once, and a part for every worker. */
import { Secret } from '@basa/masking';
import { describe, expect, it } from 'vitest';
import { MAX_SHARD_ELEMENTS, shardsOf } from '../../src/closing/shards.ts';
import { joinTerms, packTerms, unpackTerms, wipeTerms } from '../../src/closing/work/packed-terms.ts';

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

it('packed terms are the same terms, together and after the way through a thread; wiped ones are gone', () => {
  const term = (value: number, sign: 1 | -1) => ({ seed: new Secret(new Uint8Array(32).fill(value)), sign });
  const parts = [packTerms([term(1, 1), term(2, -1)]), packTerms([]), packTerms([term(3, -1)])];
  const joined = structuredClone(joinTerms(parts));
  const read = unpackTerms(joined).map(({ seed, sign }) => [seed.reveal()[31], sign]);
  expect(read).toEqual([
    [1, 1],
    [2, -1],
    [3, -1],
  ]);
  expect(parts.flatMap(({ seeds }) => [...seeds]).every((byte) => byte === 0)).toBe(true);
  wipeTerms(joined);
  expect(joined.seeds.every((byte) => byte === 0)).toBe(true);
});
