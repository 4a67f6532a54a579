/** Nonces, networks and buckets by themselves. */
import { describe, expect, it } from 'vitest';
import { SeenNonces } from '../../src/http/device-requests.ts';
import { networkOf } from '../../src/http/heads.ts';
import { TokenBuckets } from '../../src/http/limits.ts';

describe('seen nonces', () => {
  it('are remembered for the whole window and forgotten after two', () => {
    for (const start of [0, 1, 50, 99]) {
      const seen = new SeenNonces({ windowMs: 100, most: 10 });
      seen.add('first', 0);
      expect(seen.has('a', start)).toBe(false);
      seen.add('a', start);
      expect(seen.has('a', start + 100)).toBe(true);
      expect(seen.has('a', start + 200)).toBe(false);
    }
  });

  it('are bounded: where there are too many, the older half goes', () => {
    const seen = new SeenNonces({ windowMs: 100, most: 4 });
    for (const name of ['a', 'b', 'c', 'd', 'e']) seen.add(name, 0);
    expect(['a', 'b', 'c', 'd', 'e'].map((name) => seen.has(name, 0))).toEqual([false, false, true, true, true]);
  });
});

describe('the network of an address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0::/64'],
    ['2001:DB8:0:1::', '2001:db8:0:1::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
    ['not an address', 'not an address'],
  ])('%s is %s', (address, network) => expect(networkOf(address)).toBe(network));
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
