/** The short version of `npm run lab -- trial authorities`. */
import { expect, it } from 'vitest';
import { runAuthorities } from '../../src/trials/authorities/run.ts';

it.each([
  { engine: 'slot-keys', words: /3 of 4 authorities must answer, but 2 did not/ },
  { engine: 'one-shot', words: /recent statements of 2 of 3 authorities|authorities must answer/ },
] as const)(
  'four authorities with $engine, killed one at a time, one down and two down, lose no acknowledged update and count none twice',
  async ({ engine, words }) => {
    const report = await runAuthorities({ kills: 4, seed: 1, engine });
    expect(report.problems).toEqual([]);
    expect(report).toMatchObject({ lost: 0, doubled: 0, keysTwice: 0, stuck: 0, versionsWithTwoDown: 0 });
    const { acknowledged, included, excluded, aborted, quarantined, expired, discarded, versionsWithOneDown } = report;
    expect(included + excluded + aborted + quarantined + expired + discarded).toBe(acknowledged);
    expect(Math.min(included, versionsWithOneDown)).toBeGreaterThan(0);
    expect(report.refusals.join()).toMatch(words);
  },
);
