/** Which rate is chosen: a small one that is about as fast as the fastest. */
import { expect, it } from 'vitest';
import type { Cell } from '../src/cell.ts';
import { isSynchronous } from '../src/cell.ts';
import type { CellResult } from '../src/grid.ts';
import { rates } from '../src/studies/rates.ts';
import { COSTS } from './declared-costs.ts';

/** By the rate of the server: versions to the target, or none, and the accuracy in the end. */
type Course = Readonly<Record<number, { readonly versions?: number; readonly end: number }>>;

async function chosen(course: Course): Promise<number | undefined> {
  const resultOf = (cell: Cell): CellResult => {
    const { rate } = isSynchronous(cell) ? cell.task.step.rounds : cell.task.step.buffers;
    const { versions, end } = course[rate] ?? { versions: 50, end: 0.9 };
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
  const own = {
    folder: '',
    workers: 1,
    seeds: 1,
    isWanted: nothing,
    onlyFinished: true,
    signal: new AbortController().signal,
    onProgress: nothing,
  };
  const results = async (cells: readonly Cell[]): Promise<readonly CellResult[]> => cells.map(resultOf);
  const { rates: found } = await rates.run({ profile: 'smoke', costs: COSTS, results, own });
  return found?.['mnist']?.buffers;
}

it('of rates that are about as fast the smallest: the largest may swing at other delays', async () => {
  expect(
    await chosen({ 0.5: { versions: 59, end: 0.8 }, 1: { versions: 26, end: 0.8 }, 2: { versions: 25, end: 0.8 } }),
  ).toBe(1);
});

it('a small rate that is much slower is not taken', async () => {
  expect(
    await chosen({ 0.5: { versions: 59, end: 0.8 }, 1: { versions: 40, end: 0.8 }, 2: { versions: 25, end: 0.8 } }),
  ).toBe(2);
});

it('where none came to the target, the most accurate in the end', async () => {
  expect(await chosen({ 0.5: { end: 0.4 }, 1: { end: 0.6 }, 2: { end: 0.5 } })).toBe(1);
});

it('what came to the target goes before what is more accurate in the end without it', async () => {
  expect(await chosen({ 0.5: { end: 0.9 }, 1: { end: 0.9 }, 2: { versions: 100, end: 0.8 } })).toBe(2);
});
