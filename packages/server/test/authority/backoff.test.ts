import { expect, it } from 'vitest';
import { Backoff } from '../../src/authority/gather.ts';

it('waits twice as long after each failure, up to a bound, and not at all once it went on', () => {
  let now = 0;
  const backoff = new Backoff(() => now, { firstMs: 500, longestMs: 3000 });
  const waits = Array.from({ length: 5 }, () => {
    expect(backoff.isDue('a')).toBe(true);
    backoff.failed('a');
    const from = now;
    while (!backoff.isDue('a')) now += 100;
    return now - from;
  });
  expect(waits).toEqual([500, 1000, 2000, 3000, 3000]);
  backoff.failed('a');
  expect([backoff.isDue('a'), backoff.isDue('b')]).toEqual([false, true]);
  backoff.over('a');
  expect(backoff.isDue('a')).toBe(true);
});

it('is held up by no clock that was set back', () => {
  let now = 1e12;
  const backoff = new Backoff(() => now);
  backoff.failed('a');
  now = 0;
  expect(backoff.isDue('a')).toBe(true);
});
