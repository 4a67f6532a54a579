/** The short version of `npm run lab -- trial authorities`. */
import { expect, it } from 'vitest';
import { runAuthorities } from '../../src/trials/authorities/run.ts';

it('four authorities, killed one at a time, one down and two down, lose no acknowledged update and count none twice', async () => {
  const report = await runAuthorities({ kills: 4, seed: 1 });
  expect(report.problems).toEqual([]);
  expect(report).toMatchObject({ lost: 0, doubled: 0, keysTwice: 0, stuck: 0, versionsWithTwoDown: 0 });
  const { acknowledged, included, excluded, aborted, quarantined, versionsWithOneDown } = report;
  expect(included + excluded + aborted + quarantined).toBe(acknowledged);
  expect(Math.min(included, versionsWithOneDown)).toBeGreaterThan(0);
  expect(report.refusals.join()).toContain('3 of the 4 authorities that can be asked are needed, and 2 did not answer');
});
