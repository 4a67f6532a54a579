/** `--leaf`: writers of LEAF's files instead of the stand-in, a tenth of them only for the test. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTask, shelfFor } from '@basa/lab/experiments/tasks/learning-tasks.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = mkdtempSync(join(tmpdir(), 'basa-leaf-'));
const WRITERS = 20;

beforeAll(() => {
  const names = Array.from({ length: WRITERS }, (_, n) => `f${n}`);
  for (const half of [names.slice(0, 12), names.slice(12)]) {
    const data = half.map((name) => {
      const count = 1 + (Number(name.slice(1)) % 3);
      const x = Array.from({ length: count }, () => new Array<number>(784).fill(1));
      return [name, { x, y: new Array<number>(count).fill(Number(name.slice(1))) }];
    });
    writeFileSync(join(root, `${half[0]}.json`), JSON.stringify({ users: half, user_data: Object.fromEntries(data) }));
  }
});
afterAll(() => rmSync(root, { recursive: true }));

it('takes the writers of all files, and keeps a tenth for the test', async () => {
  const task = await openTask('femnist', 1, { leaf: root });
  expect(task.users).toBe(WRITERS - 2);
  const trainedOn = new Set<number>();
  for (let user = 0; user < task.users; user++) {
    const { dataset, indices } = task.samplesOf(user);
    expect(indices).toHaveLength(task.countOf(user));
    for (const index of indices) trainedOn.add(dataset.labels[index] as number);
  }
  const { dataset, indices } = task.wholeTest;
  const tested = new Set(Array.from(indices, (index) => dataset.labels[index] as number));
  expect(tested.size).toBe(2);
  for (const writer of tested) expect(trainedOn.has(writer)).toBe(false);
});

it('needs no shelf, which is for examples that are drawn', () => {
  expect(shelfFor('femnist', root)).toBeUndefined();
  expect(shelfFor('mnist', undefined)).toBeUndefined();
  expect(shelfFor('femnist', undefined)).toBeDefined();
});

it('says what is missing if the folder has no files of LEAF', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'basa-leaf-empty-'));
  await expect(openTask('femnist', 1, { leaf: empty })).rejects.toThrow(/no JSON files/);
  rmSync(empty, { recursive: true });
});
