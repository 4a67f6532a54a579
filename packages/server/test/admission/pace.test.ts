/** The time that devices need, learned from the newest ones: it decides how long a place lasts. */
import type { UserId } from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import { Pace, remember } from '../../src/admission/task-admission.ts';
import { userOf } from '../support/store-samples.ts';

const [ann, bob] = [1, 2].map(userOf) as [UserId, UserId];
const LONGEST_MS = 600_000;

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

describe('a place lasts', () => {
  it('an eighth of the longest time while nothing is known', () => {
    expect(new Pace().leaseMs(LONGEST_MS)).toBe(75_000);
    expect(new Pace().leaseMs(4_000)).toBe(4_000);
  });

  it.each([
    [10_000, 30_000],
    [100, 5_000],
    [400_000, LONGEST_MS],
  ])('three times the %i ms that nearly all need: %i ms, within limits', (ms, leaseMs) => {
    const pace = new Pace();
    for (const user of [ann, bob]) {
      pace.begin(user, 0);
      pace.begin(user, 50); // asks again, and has its place still
      pace.end(user, ms);
    }
    expect(pace.leaseMs(LONGEST_MS)).toBe(leaseMs);
  });

  it('as long as before if a device gives its place back, or gives an update without one', () => {
    const pace = new Pace();
    pace.begin(ann, 0);
    pace.forget(ann);
    for (const user of [ann, bob]) pace.end(user, 9);
    expect(pace.leaseMs(LONGEST_MS)).toBe(75_000);
  });
});
