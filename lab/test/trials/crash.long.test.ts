/** The short version of `npm run lab -- trial crash`. */
import { describe, expect, it } from 'vitest';
import { runCrashes } from '../../src/trials/crash.ts';

describe('kill -9 of server, authority and devices under load', () => {
  it.each([
    { store: 'embedded', kills: 10 },
    { store: 'postgres', kills: 4 }, // three nodes, stopped past their leases as well, and their database
  ] as const)(
    'on the $store store loses no acknowledged update, counts none twice and leaves nothing stuck',
    async ({ store, kills }) => {
      const report = await runCrashes({ store, kills, seed: 1 });
      expect(report.problems).toEqual([]);
      expect(report).toMatchObject({ kills, lost: 0, doubled: 0, stuck: 0 });
      const { acknowledged, included, quarantined, discarded } = report;
      expect(included + quarantined + discarded).toBe(acknowledged);
      expect(included).toBeGreaterThan(0);
    },
  );
});
