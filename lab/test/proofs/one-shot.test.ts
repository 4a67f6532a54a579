/** The one-shot mode under the leak oracle: attacks, generated schedules, a share of all courses, and faults. */
import { describe, expect, it } from 'vitest';
import { runCourses } from '../../src/oracle/courses.ts';
import { Exhaustive } from '../../src/oracle/exhaustive.ts';
import { runFaults } from '../../src/oracle/faults.ts';
import { RULES } from '../../src/oracle/rules/all.ts';
import { playRule } from '../../src/oracle/rules/rule.ts';
import { runSchedules, SHAPES, type ShapeName } from '../../src/oracle/schedules.ts';

describe('the unmodified services', () => {
  it.each(RULES)('reveal at most a sum when $attack [$id]', async (rule) => {
    expect(await playRule(rule)).toMatchObject({ leaked: [], broken: [] });
  });

  it.each(Object.keys(SHAPES) as ShapeName[])(
    'leak nothing in generated schedules at (%s), and sums are found',
    async (shape) => {
      const { leaks, sumsFound, closed } = await runSchedules(shape, { seed: 1, count: 4 });
      expect(leaks).toEqual([]);
      expect(closed).toBeGreaterThan(0);
      expect(sumsFound).toBeGreaterThan(0);
    },
  );

  it('leak nothing in any state of three devices, and the oracle notices an authority that forgets', () => {
    const alone = { count: 1, colluding: [] } as const;
    const { leaks, schedules, sums, sumsFound } = new Exhaustive(alone).run();
    expect([leaks, sumsFound]).toEqual([[], sums]);
    expect(schedules).toBeGreaterThan(50);
    expect(new Exhaustive({ ...alone, forgets: true }).run().leaks).toHaveLength(1);
  });

  it('leak nothing in a share of all courses of two steps, and every sum is found', async () => {
    const { leaks, schedules, sums, sumsFound } = await runCourses(2, { index: 7, of: 600 });
    expect(leaks).toEqual([]);
    expect(schedules).toBeGreaterThan(3);
    expect(sumsFound).toBe(sums);
    expect(sums).toBeGreaterThan(0);
  });

  it('give every acknowledged update one end under lost messages, starts and restores', async () => {
    const { broken, fates } = await runFaults(1);
    expect(broken).toEqual([]);
    expect(fates['included']).toBeGreaterThan(2);
  });
});
