/** Nonces and buckets by themselves. */
import { describe, expect, it } from 'vitest';
import { SeenNonces } from '../src/seen-nonces.ts';
import { TokenBuckets } from '../src/token-buckets.ts';

describe('seen nonces', () => {
  it('are remembered for the whole window and forgotten after two', () => {
    for (const start of [0, 1, 50, 99]) {
      const seen = new SeenNonces({ windowMs: 100, most: 10 });
      seen.add('first', 0);
      expect(seen.add('a', start)).toBe('new');
      expect(seen.add('a', start + 100)).toBe('seen');
      expect(seen.add('a', start + 200)).toBe('new');
    }
  });

  it('are bounded, and none is forgotten to make room', () => {
    const seen = new SeenNonces({ windowMs: 100, most: 2 });
    expect([seen.add('a', 0), seen.add('b', 0), seen.add('c', 0)]).toEqual(['new', 'new', 'full']);
    expect([seen.add('a', 0), seen.add('c', 200)]).toEqual(['seen', 'new']);
  });
});

describe('token buckets', () => {
  it('give a burst, then so many a second, and say how long to wait', () => {
    const buckets = new TokenBuckets({ burst: 2, perSecond: 10 });
    expect([buckets.take('a', 0), buckets.take('a', 0), buckets.take('a', 0)]).toEqual([
      undefined,
      undefined,
      { retryAfterMs: 100 },
    ]);
    expect([buckets.take('a', 50), buckets.take('a', 100)]).toEqual([{ retryAfterMs: 50 }, undefined]);
    expect(buckets.take('b', 0)).toBeUndefined();
  });

  it('take no harm from a clock that goes back', () => {
    const buckets = new TokenBuckets({ burst: 1, perSecond: 1 });
    buckets.take('a', 10_000);
    expect(buckets.take('a', 0)).toEqual({ retryAfterMs: 1000 });
  });

  it('keep a bounded number of keys: the one unused for longest goes', () => {
    const buckets = new TokenBuckets({ burst: 1, perSecond: 1 }, 2);
    for (const key of ['a', 'b', 'c']) buckets.take(key, 0);
    expect([buckets.take('c', 0), buckets.take('a', 0)]).toEqual([{ retryAfterMs: 1000 }, undefined]);
  });
});
