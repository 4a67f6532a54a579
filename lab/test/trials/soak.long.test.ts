/** The short version of `npm run lab -- trial soak`. */
import { expect, it } from 'vitest';
import { runSoak } from '../../src/trials/soak.ts';

it('batches with drop-outs, duplicates, liars and restarts are opened exactly or not at all', async () => {
  const report = await runSoak({ buffers: 5, seed: 1 });
  expect(report.problems).toEqual([]);
  expect(report.inexact).toBe(0);
  expect(report.opened + report.quarantined).toBeGreaterThanOrEqual(5);
});
