/** The one-shot mode under the leak oracle: attacks, generated schedules, a share of all courses, and faults. */
import { nodeEnvironment } from '@basa/virtual-time/simulation';
import { describe, expect, it } from 'vitest';
import { ONE_SHOT_ATTACKS } from '../../src/attacks/one-shot/registry.ts';
import { playShot } from '../../src/attacks/one-shot/shot-scene.ts';
import { runCourses } from '../../src/oracle/courses.ts';
import { runFaults } from '../../src/oracle/faults.ts';
import { runSchedules, SHAPES, type ShapeName } from '../../src/oracle/schedules.ts';

describe('the unmodified services', () => {
  it.each(ONE_SHOT_ATTACKS)('reveal at most the sum of a final batch when $schedule [$id]', (attack) => {
    expect(playShot(attack, nodeEnvironment)).toMatchObject({ leaked: [], broken: [] });
  });

  it.each(Object.keys(SHAPES) as ShapeName[])(
    'leak nothing in generated schedules at (%s), and sums are found',
    async (shape) => {
      const { leaks, sumsFound, closed } = await runSchedules(shape, { seed: 1, count: 12 });
      expect(leaks).toEqual([]);
      expect(closed).toBeGreaterThan(1);
      expect(sumsFound).toBeGreaterThan(1);
    },
  );

  it('leak nothing in a share of all courses of two steps, and every sum is found', async () => {
    const { leaks, schedules, sums, sumsFound } = await runCourses(2, { index: 7, of: 150 });
    expect(leaks).toEqual([]);
    expect(schedules).toBeGreaterThan(10);
    expect(sumsFound).toBe(sums);
    expect(sums).toBeGreaterThan(0);
  });

  it('give every acknowledged update one end under lost messages, starts and restores', async () => {
    const runs = [];
    for (let seed = 1; seed <= 3; seed++) runs.push(await runFaults(seed));
    expect(runs.flatMap(({ broken }) => broken)).toEqual([]);
    expect(runs.reduce((sum, { fates }) => sum + (fates['included'] ?? 0), 0)).toBeGreaterThan(5);
  });
});
