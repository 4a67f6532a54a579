/** `npm run lab -- experiment` in its smallest profile: interrupted, gone on with, repeated, and read as JSON. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runLab } from '@basa/lab/commands/lab.ts';
import { HASTY, runStudies, STUDIES } from '@basa/lab/experiments/index.ts';
import { afterAll, expect, it } from 'vitest';

const root = mkdtempSync(join(tmpdir(), 'basa-experiments-'));
afterAll(() => rmSync(root, { recursive: true }));
const [first, second] = [join(root, 'first'), join(root, 'second')];
const table1 = STUDIES.filter(({ name }) => name === 'table1');
const json = (folder: string): string => readFileSync(join(folder, 'table1.json'), 'utf8');

async function run(folder: string, costsFile?: string, stopAfterFirst = false): Promise<readonly number[]> {
  const stopping = new AbortController();
  const done: number[] = [];
  await runStudies(table1, {
    profile: 'smoke',
    folder,
    workers: 2,
    costsFile,
    sampling: HASTY,
    date: '2026-01-01',
    signal: stopping.signal,
    onMeasure: () => {},
    onProgress: (progress) => {
      done.push(progress.done);
      if (stopAfterFirst && progress.done > 0) stopping.abort();
    },
  });
  return done;
}

it('an interrupted run continues, and gives the same result as an uninterrupted one', async () => {
  await expect(run(first, undefined, true)).rejects.toThrow();
  expect(readFileSync(join(first, 'trained.jsonl'), 'utf8').split('\n').length).toBeGreaterThan(1);
  await run(first);
  const packed = join(root, 'costs.json.gz');
  writeFileSync(packed, gzipSync(readFileSync(join(first, 'costs.json'))));
  await run(second, packed);
  expect(json(second)).toBe(json(first));
  for (const file of ['table1.csv', 'report.html']) {
    expect(readFileSync(join(second, file), 'utf8')).toBe(readFileSync(join(first, file), 'utf8'));
  }
  // Nothing is trained twice.
  expect(await run(first)).toEqual([]);
});

it('--json ends with rows and orderings', async () => {
  const output: string[] = [];
  const result = await runLab(['experiment', 'table1', '--profile', 'smoke', '--out', first, '--json'], {
    stdout: { write: (text: string) => output.push(text) },
    stderr: { write: () => true },
  });
  expect(result).toBe(0);
  const { rows, orderings } = JSON.parse(output.join('').trim().split('\n').at(-1) ?? '');
  const keys = ['dataset', 'beta', 'protocol', 'seconds', 'deviation', 'aggregations', 'reached'];
  for (const row of rows)
    expect(row).toEqual(expect.objectContaining(Object.fromEntries(keys.map((key) => [key, expect.anything()]))));
  expect(new Set(rows.map(({ protocol }: { protocol: string }) => protocol)).size).toBe(8);
  for (const { claim, verdict } of orderings) expect([typeof claim, typeof verdict]).toEqual(['string', 'string']);
});

it('a wrong name lists the existing ones', async () => {
  const errors: string[] = [];
  const result = await runLab(['experiment', 'table2'], {
    stdout: { write: () => true },
    stderr: { write: (text: string) => errors.push(text) },
  });
  expect(result).toBe(2);
  expect(errors.join('')).toContain('is not an experiment; use one of rates, table1, large-scale');
});
