/** The short version of `npm run lab -- trial authorities`. */
import { expect, it } from 'vitest';
import { runAuthorities } from '../../src/trials/authorities.ts';

it('four authorities, killed one at a time, one down and two down, lose no acknowledged update and count none twice', async () => {
  const report = await runAuthorities({ kills: 4, seed: 1 });
  expect(report.problems).toEqual([]);
  expect(report).toMatchObject({ lost: 0, doubled: 0, stuck: 0, versionsWithTwoDown: 0 });
  const { acknowledged, included, quarantined, discarded, versionsWithOneDown } = report;
  expect(included + quarantined + discarded).toBe(acknowledged);
  expect(Math.min(included, versionsWithOneDown)).toBeGreaterThan(0);
  expect(report.refusals.join()).toMatch(/recent statements of 2 of 3 authorities|authorities must answer/);
});
