/** The one-shot mode under the leak oracle, under generated schedules, in every course of a share, and with faults. */
import { nodeEnvironment } from '@basa/virtual-time/simulation';
import { describe, expect, it } from 'vitest';
import { ONE_SHOT_ATTACKS } from '../../src/attacks/one-shot/registry.ts';
import { playShot } from '../../src/attacks/one-shot/shot-scene.ts';
import { runEveryCourse } from '../../src/proofs/oracle/shot-courses.ts';
import { runShotFaults } from '../../src/proofs/oracle/shot-faults.ts';
import { runShotSchedule, runShotSchedules } from '../../src/proofs/oracle/shot-schedule.ts';

describe('the unmodified core', () => {
  it.each(ONE_SHOT_ATTACKS)('reveals at most the sum of a final batch when $schedule [$id]', (attack) => {
    expect(playShot(attack, nodeEnvironment)).toMatchObject({ leaked: [], broken: [] });
  });

  it('leaks nothing in generated schedules, and sums are found', () => {
    const { leaks, sumsFound, closed } = runShotSchedules(1, 80);
    expect(leaks).toEqual([]);
    expect(sumsFound).toBeGreaterThan(5);
    expect(closed).toBeGreaterThan(10);
  });

  it.each([1, 4] as const)('leaks nothing in schedules with %i authorities only', (authorities) => {
    const { leaks, schedules, withOneAuthority, withFourAuthorities } = runShotSchedules(1, 20, { authorities });
    expect(leaks).toEqual([]);
    expect(schedules).toBe(20);
    expect(authorities === 1 ? withOneAuthority : withFourAuthorities).toBe(20);
  });

  it('gives the same report about a schedule, whatever ran before it', () => {
    const first = runShotSchedule(3);
    for (let seed = 4; seed < 14; seed++) runShotSchedule(seed);
    expect(runShotSchedule(3)).toEqual(first);
  });

  it.each([
    { devices: 3, bufferSize: 3, minimum: 2, of: 197 },
    { devices: 4, bufferSize: 4, minimum: 3, of: 701 },
  ])('leaks nothing in a share of all courses of $devices devices, and finds every sum', ({ of, ...courses }) => {
    const { leaks, sums, sumsFound, situations } = runEveryCourse(courses, { index: 7, of });
    expect(leaks).toEqual([]);
    expect(situations).toBeGreaterThan(150);
    expect(sumsFound).toBe(sums);
  });

  it('gives every acknowledged update one end under any crashes', () => {
    const runs = Array.from({ length: 12 }, (_, n) => runShotFaults(n + 1));
    expect(runs.flatMap(({ broken }) => broken)).toEqual([]);
    expect(runs.reduce((sum, { ends }) => sum + ends.included, 0)).toBeGreaterThan(50);
    expect(runs.reduce((sum, { ends }) => sum + ends.expired, 0)).toBeGreaterThan(0);
  });
});
