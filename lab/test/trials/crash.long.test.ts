/** The short version of `npm run lab -- trial crash`. */
import { describe, expect, it } from 'vitest';
import { runCrashes } from '../../src/trials/crash/run.ts';

describe('kill -9 of server, authority and devices under load', () => {
  it.each([
    { store: 'embedded', engine: 'slot-keys', kills: 10 },
    { store: 'postgres', engine: 'slot-keys', kills: 4 }, // three nodes, stopped past their leases as well, and their database
    { store: 'embedded', engine: 'one-shot', kills: 10 },
    { store: 'postgres', engine: 'one-shot', kills: 4 },
  ] as const)(
    'on the $store store with $engine loses no acknowledged update, counts none twice, issues no key twice and leaves nothing stuck',
    async ({ store, engine, kills }) => {
      const report = await runCrashes({ store, engine, kills, seed: 1 });
      expect(report.problems).toEqual([]);
      expect(report).toMatchObject({ kills, lost: 0, doubled: 0, keysTwice: 0, stuck: 0 });
      const { acknowledged, included, excluded, aborted, quarantined, expired, discarded } = report;
      expect(included + excluded + aborted + quarantined + expired + discarded).toBe(acknowledged);
      expect(included).toBeGreaterThan(0);
    },
  );
});
