/** Over-selected rounds, batches that mix versions, and users that are always slow, in virtual time. */
import { rounds } from '@basa/simulator';
import { CELL, exponential, type Profile, scheduleCell, scheduleOf } from '@basa/simulator/virtual-time';
import { describe, expect, it } from 'vitest';
import { type Racer, race } from '../../src/experiments/studies/racers.ts';
import { MNIST } from '../../src/experiments/tasks/tasks.ts';
import { COSTS } from './declared-costs.ts';

const profiles = { ...COSTS.profiles, 'BASA one-shot 5 -0': COSTS.profiles['BASA one-shot 10 -0'] as Profile };
const costs = { ...COSTS, profiles };

it('a slow tenth is in rounds that wait for it, and is left out by rounds that end early', () => {
  const fleet = {
    users: 1000,
    concurrency: 32,
    arrivals: { kind: 'closed' as const },
    computeSeconds: () => 1,
    delay: exponential(3),
    slowdown: (user: number) => (user < 100 ? 10 : 1),
    dropouts: 0,
    weightOf: () => 1,
    bufferSize: 10,
    seed: 3,
  };
  const free = { setupSeconds: 0, isOverlapped: false, maskSeconds: 0, recoverySeconds: () => 0, threshold: 22 };
  const shareOf = (first?: number): number => {
    const users = scheduleOf(rounds(fleet, free, { first }), 100).order.flat();
    return users.filter(({ user }) => user < 100).length / users.length;
  };
  expect(shareOf()).toBeCloseTo(0.1, 1);
  expect(shareOf(24)).toBeLessThan(0.01);
});

describe('rounds', () => {
  const fleet = {
    users: 100,
    concurrency: 8,
    arrivals: { kind: 'closed' as const },
    computeSeconds: (user: number) => user,
    delay: { kind: 'none' as const },
    dropouts: 0,
    weightOf: () => 1,
    bufferSize: 4,
    seed: 3,
  };
  const free = { setupSeconds: 0, isOverlapped: false, maskSeconds: 0, recoverySeconds: () => 0, threshold: 3 };
  const first = (end: Parameters<typeof rounds>[2]) => scheduleOf(rounds(fleet, free, end), 1);
  const usersOf = (end: Parameters<typeof rounds>[2]) =>
    first(end)
      .order.flat()
      .map(({ user }) => user)
      .sort((a, b) => a - b);

  it('that end with the first uploads take no longer than the last of these', () => {
    const all = usersOf({});
    expect(all).toHaveLength(8);
    expect(usersOf({ first: 5 })).toEqual(all.slice(0, 5));
    expect(first({ first: 5 }).times[0]).toBe(all[4]);
    expect(first({}).times[0]).toBe(all[7]);
  });

  it('with a deadline wait for it if somebody is late, and beyond it only for enough uploads', () => {
    const all = usersOf({});
    const deadlineSeconds = (all[4] as number) + 0.5;
    expect(usersOf({ deadlineSeconds })).toEqual(all.slice(0, 5));
    expect(first({ deadlineSeconds }).times[0]).toBe(deadlineSeconds);
    expect(usersOf({ deadlineSeconds: 0.1 })).toEqual(all.slice(0, 3));
  });
});

describe('one-shot', () => {
  const scheduleOfLine = (line: Racer) => {
    const task = { ...MNIST, cap: { buffers: 60, rounds: 10 } };
    const compute = { secondsAnExample: 1 / 60 };
    return scheduleCell(race(line, { ...CELL, task, delay: exponential(3), compute, seed: 5 }), costs, () => 60);
  };

  it('with 3 a version has three updates on each version of a batch, or ten on one', () => {
    const { order } = scheduleOfLine('BASA one-shot, 3 a version');
    let mixed = 0;
    for (const updates of order) {
      const counts = new Map<number, number>();
      for (const { trainedOn } of updates) counts.set(trainedOn, (counts.get(trainedOn) ?? 0) + 1);
      if (counts.size > 1) mixed++;
      expect(Math.min(...counts.values())).toBeGreaterThanOrEqual(3);
      expect(updates.length).toBeGreaterThanOrEqual(8);
    }
    expect(mixed).toBeGreaterThan(10);
  });

  it('with groups of 5 makes steps of ten updates or more', () => {
    for (const updates of scheduleOfLine('BASA one-shot, groups of 5').order)
      expect(updates.length).toBeGreaterThanOrEqual(10);
  });
});
