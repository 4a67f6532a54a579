/** `npm run lab -- experiment privacy` in its smallest profile: noisy sums learn, less noise learns more, and nothing is trained twice. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HASTY, runStudies, STUDIES } from '@basa/lab/experiments/index.ts';
import { afterAll, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'basa-private-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(): Promise<{ readonly json: string; readonly trained: number }> {
  let trained = 0;
  await runStudies(
    STUDIES.filter(({ name }) => name === 'privacy'),
    {
      profile: 'smoke',
      folder,
      workers: 2,
      sampling: HASTY,
      date: '2026-01-01',
      signal: new AbortController().signal,
      onMeasure: () => {},
      onProgress: ({ done }) => {
        trained = done;
      },
    },
  );
  return { json: readFileSync(join(folder, 'privacy.json'), 'utf8'), trained };
}

it('writes tables, a figure and rows, and a second run trains nothing', async () => {
  const first = await run();
  expect(first.trained).toBe(7 * 4 * 20);
  const { rows, tables, figures } = JSON.parse(first.json) as {
    rows: { noise: string; noiseMultiplier: number; accuracy: number; epsilon: number | null }[];
    tables: { rows: string[][] }[];
    figures: { name: string }[];
  };
  const accuracyOf = (noise: string, z: number): number =>
    rows.find((row) => row.noise === noise && row.noiseMultiplier === z)?.accuracy ?? Number.NaN;
  // Ten classes: a guess is right one time in ten.
  expect(accuracyOf('none', 0)).toBeGreaterThan(0.4);
  expect(accuracyOf('distributed', 1)).toBeGreaterThan(0.2);
  expect(accuracyOf('distributed', 4)).toBeLessThan(accuracyOf('none', 0));
  expect(rows.find(({ noise }) => noise === 'central')?.epsilon).toBeCloseTo(5.2, 1);
  expect(tables[0]?.rows).toHaveLength(3);
  expect(figures.map(({ name }) => name)).toEqual(['privacy']);
  expect(readFileSync(join(folder, 'privacy.svg'), 'utf8')).toContain('<svg');
  expect(await run()).toEqual({ json: first.json, trained: 0 });
});
