/** The queue of trainings: nothing is begun that would not end in time, and nothing is trained twice. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MNIST_SMOKE } from '@basa/lab/experiments/tasks/tasks.ts';
import { CELL } from '@basa/simulator/virtual-time';
import { afterAll, expect, it } from 'vitest';
import { jobOf, mergeJobs } from '../../src/experiments/training/train-plan.ts';
import { trainAll } from '../../src/experiments/training/train-queue.ts';
import { TrainedStore } from '../../src/experiments/training/trained-store.ts';

const root = mkdtempSync(join(tmpdir(), 'basa-queue-'));
afterAll(() => rmSync(root, { recursive: true }));

function job(rank = 0, trainedOn = 0) {
  const order = [[{ user: 1, trip: 0, trainedOn, weight: 1 }]];
  const schedule = {
    order,
    times: [1],
    trips: 1,
    lost: 0,
    droppedOut: 0,
    meanStaleness: 0,
    meanAge: 0,
    utilisation: {},
  };
  return jobOf({ ...CELL, task: MNIST_SMOKE, protocol: 'no SA' }, schedule, 10, rank);
}

const common = { workers: 1, signal: new AbortController().signal };

it('begins no job whose time is not known while less than a minute is left', async () => {
  const store = new TrainedStore(join(root, 'late.jsonl'));
  await trainAll([job()], { ...common, store, msLeft: () => 59_000 });
  expect(store.get(job().name)).toBeUndefined();
});

it('does not train finished jobs again', async () => {
  const store = new TrainedStore(join(root, 'done.jsonl'));
  const done = { accuracy: [], reached: 1, wholeAccuracy: 0.5, samples: 1, clipped: 0, partySums: 0 };
  store.put(job().name, done);
  const seen: number[] = [];
  await trainAll([job()], { ...common, store, onProgress: ({ all }) => seen.push(all) });
  expect([seen, store.get(job().name)]).toEqual([[], done]);
});

it('the same order wanted twice is one job, as important as the more important one', () => {
  const [only, ...rest] = mergeJobs([job(3), job(1)]);
  expect([only?.rank, rest]).toEqual([1, []]);
});

it('the most important job comes first', () => {
  const jobs = mergeJobs([job(2, 0), job(1, -1)]);
  expect(jobs.map(({ rank }) => rank)).toEqual([1, 2]);
});
