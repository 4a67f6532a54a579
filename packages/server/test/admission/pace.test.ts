/** The time that devices need, learned from the newest ones: it decides how long a place lasts and when a device is late. */
import type { UserId } from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import { Samples, Span } from '../../src/admission/pace.ts';
import { remember } from '../../src/admission/recent.ts';
import { userOf } from '../support/store-samples.ts';

const [ann, bob, cem] = [1, 2, 3].map(userOf) as [UserId, UserId, UserId];
const LONGEST_MS = 600_000;

it('a quantile needs enough samples, and never lies beyond the largest', () => {
  const samples = new Samples(3);
  for (const value of [100, 9]) samples.add(value);
  expect(samples.quantile(0)).toBeUndefined();
  samples.add(20);
  expect([0, 0.5, 0.9, 1].map((share) => samples.quantile(share))).toEqual([9, 20, 100, 100]);
});

it('a map that is full forgets the entry that was set the longest ago', () => {
  const values = new Map<string, number>();
  for (const [name, value] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
    ['c', 4],
  ] as const)
    remember(values, name, value, 2);
  expect([...values]).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
});

/** Two devices needed this long. */
function spanOf(ms: number): Span {
  const span = new Span();
  for (const user of [ann, bob]) {
    span.begin(user, 0);
    span.end(user, ms);
  }
  return span;
}

describe('a device is late', () => {
  it('after the longest time, while nothing is known', () => expect(new Span().lateMs(LONGEST_MS)).toBe(LONGEST_MS));

  it.each([
    [10_000, 30_000],
    [100, 5_000],
    [400_000, LONGEST_MS],
  ])('after three times the %i ms that nearly all need: %i ms, within limits', (ms, lateMs) =>
    expect(spanOf(ms).lateMs(LONGEST_MS)).toBe(lateMs),
  );
});

describe('a place lasts', () => {
  it('an eighth of the longest time before anything is known, and half as long for each unused place', () => {
    const leases = [0, 1, 2, 30].map((unused) => new Span().leaseMs(ann, unused, LONGEST_MS));
    expect(leases).toEqual([75_000, 37_500, 18_750, 5_000]);
    expect(new Span().leaseMs(ann, 0, 4_000)).toBe(4_000);
  });

  it('three times the usual time for a device that used one, and half of that for a new one', () => {
    const span = spanOf(20_000);
    expect([ann, cem].map((user) => span.leaseMs(user, 0, LONGEST_MS))).toEqual([60_000, 30_000]);
    expect([ann, cem].map((user) => span.leaseMs(user, 1, LONGEST_MS))).toEqual([30_000, 15_000]);
  });
});
