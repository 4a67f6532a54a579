/** The choice of a rate: the fastest over all delays. */

import type { Cell } from '@basa/lab/experiments/tasks/tasks.ts';
import { isSynchronous } from '@basa/simulator/virtual-time';
import { expect, it } from 'vitest';
import type { CellResult } from '../../src/experiments/run/grid.ts';
import { rates } from '../../src/experiments/studies/rates.ts';
import { COSTS } from './declared-costs.ts';

/** By the rate of the server: versions to the target at beta 0 and at others, or none, and the accuracy in the end. */
type Course = Readonly<
  Record<number, { readonly versions?: number | undefined; readonly atOnce?: number | undefined; readonly end: number }>
>;

/** `rest`: the course at all other rates of the grid. */
async function chosen(course: Course, rest: Course[number] = { versions: 50, end: 0.9 }): Promise<number | undefined> {
  const resultOf = (cell: Cell): CellResult => {
    const { rate } = isSynchronous(cell) ? cell.task.step.rounds : cell.task.step.buffers;
    const { end, ...found } = course[rate] ?? rest;
    const versions = cell.delay.kind === 'none' && 'atOnce' in found ? found.atOnce : found.versions;
    const isReached = versions !== undefined;
    return {
      cell,
      seconds: versions ?? 200,
      versions: versions ?? 200,
      isReached,
      secondsPerVersion: 1,
      trips: 0,
      lost: 0,
      droppedOut: 0,
      meanStaleness: 0,
      meanAge: 0,
      utilisation: {},
      trained: { accuracy: [], reached: versions, wholeAccuracy: end, samples: 0, clipped: 0, partySums: 0 },
      curve: [[1, end]],
      trajectory: '',
    };
  };
  const nothing = (): never => {
    throw new Error('not asked for');
  };
  const own = { folder: '', workers: 1, signal: new AbortController().signal, onProgress: nothing };
  const results = async (cells: readonly Cell[]): Promise<readonly CellResult[]> =>
    cells.filter(({ line }) => line === 'no SA').map(resultOf);
  const { rates: found } = await rates.run({ profile: 'small', costs: COSTS, results, own });
  return found?.['mnist']?.lines['no SA'];
}

it('the fastest over all delays, not at one of them', async () => {
  expect(await chosen({ 1: { versions: 40, end: 0.8 }, 1.4: { versions: 45, end: 0.8 } })).toBe(1);
  expect(
    await chosen({
      0.7: { versions: 60, end: 0.8 },
      1: { versions: 40, end: 0.8 },
      2: { versions: 35, atOnce: 90, end: 0.8 },
    }),
  ).toBe(1);
});

it('a rate that diverges at one delay is penalised', async () => {
  const steady = { versions: 49, end: 0.8 };
  expect(await chosen({ 1: steady, 2: { versions: 40, atOnce: 60, end: 0.8 } })).toBe(2);
  expect(await chosen({ 1: steady, 2: { versions: 40, atOnce: undefined, end: 0.1 } })).toBe(1);
});

it('if no rate reached the target, the most accurate at the end', async () => {
  const none = { versions: undefined };
  const rest = { ...none, end: 0.2 };
  expect(await chosen({ 0.7: { ...none, end: 0.3 }, 1: { ...none, end: 0.6 }, 2: { ...none, end: 0.5 } }, rest)).toBe(
    1,
  );
});
