/** The place requests of a task: a device that keeps asking uses up its own share only. */
import type { UserId } from '@basa/protocol';
import { expect, it } from 'vitest';
import { TaskLimits } from '../../src/admission/task-admission.ts';

const user = (n: number): UserId => new Uint8Array(32).fill(n) as UserId;

it('a few devices that keep asking leave the others of their task room', () => {
  const limits = new TaskLimits({ burst: 20, perSecond: 10 });
  const isTaken = (n: number, now: number): boolean => limits.take('task', user(n), now) === undefined;
  for (const pushy of [1, 2, 3])
    expect(Array.from({ length: 50 }, () => isTaken(pushy, 0)).filter(Boolean)).toHaveLength(2);
  const others = Array.from({ length: 20 }, (_, n) => isTaken(10 + n, 0));
  expect(others.filter(Boolean)).toHaveLength(14); // 20 for all of them together
  expect(limits.take('another', user(1), 0)).toBeUndefined();
  expect(isTaken(1, 1000)).toBe(true);
});

it('also under a small limit every device may ask once', () => {
  const limits = new TaskLimits({ burst: 2, perSecond: 0.001 });
  expect([1, 2, 3].map((n) => limits.take('task', user(n), 0) === undefined)).toEqual([true, true, false]);
});
