/**
 * Chooses the learning rate of the server for every line of a task from the same grid, on seeds that no result uses. A rate at the edge of
 * the grid is marked: then the best one may lie outside.
 */
import { CELL, exponential, isSynchronous } from '@basa/simulator/virtual-time';
import type { ChosenRates } from '../cells/changes.ts';
import { mean } from '../report/outcome.ts';
import { needsOfCells, type Profile, type Study } from '../run/context.ts';
import type { CellResult } from '../run/grid.ts';
import type { Cell, ExperimentTask } from '../tasks/tasks.ts';
import { NOT_REACHED, rowOf } from './protocol-cells.ts';
import { lineOf, race } from './racers.ts';
import { SLOW_LINES, slowCell, slowTasks } from './slow-tenth.ts';
import { linesOf, tasksOf } from './table1.ts';

/** The same for every protocol, in buffers and in rounds. */
const GRID = [0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8];
/** For the tasks whose trainings take minutes. */
const COARSE_GRID = [0.35, 1, 2.8, 8];
const SEEDS = [0, 1];
/** A rate can be stable when delays spread the ages of updates, and still oscillate when all updates have the same age. */
const BETAS = [0, 3, 6];

/** The rates of users that were chosen for version 0.3 among 0.03, 0.05 and 0.1. */
const RATES_OF_USERS: Readonly<Record<string, number>> = { mnist: 0.03, femnist: 0.1, cifar: 0.1, flsim: 0.1 };

function rateOfUsers({ learn }: ExperimentTask): number {
  return RATES_OF_USERS[learn.replace('slow-', '')] ?? 0.1;
}

function cellsOf(profile: Profile): readonly Cell[] {
  const own = tasksOf(profile).flatMap((task) =>
    linesOf(profile, task).flatMap((line) =>
      seedsOf(profile, task).flatMap((seed) =>
        (profile === 'smoke' ? [3] : BETAS).map((beta) =>
          race(line, {
            ...CELL,
            task,
            delay: exponential(beta),
            compute: { secondsAnExample: task.secondsAnExample },
            seed,
          }),
        ),
      ),
    ),
  );
  const slow = slowTasks(profile).flatMap((task) =>
    SLOW_LINES.flatMap((line) => seedsOf(profile, task).map((seed) => slowCell(task, line, seed))),
  );
  return [...own, ...slow].flatMap((cell) => gridOf(profile, cell.task).map((rate) => withRate(cell, rate)));
}

function seedsOf(profile: Profile, { dataset }: ExperimentTask): readonly number[] {
  return profile !== 'smoke' && dataset === 'MNIST' ? SEEDS : SEEDS.slice(0, 1);
}

function gridOf(profile: Profile, { dataset }: ExperimentTask): readonly number[] {
  if (profile === 'smoke') return [0.3, 1];
  return dataset === 'MNIST' ? GRID : COARSE_GRID;
}

function withRate(cell: Cell, rate: number): Cell {
  const { task } = cell;
  const { buffers, rounds } = task.step;
  const step = { buffers: { ...buffers, rate }, rounds: { ...rounds, rate } };
  return { ...cell, task: { ...task, step, learningRate: rateOfUsers(task) } };
}

export const rates: Study = {
  name: 'rates',
  title: 'The rate of the server, chosen for each line of each task',
  cells: cellsOf,
  needs: (profile) => needsOfCells(cellsOf(profile)),
  async run({ profile, results: found }) {
    const results = await found(cellsOf(profile));
    const tasks = [...new Map(results.map(({ cell: { task } }) => [task.learn, task])).values()];
    const chosen: Record<string, ChosenRates[string]> = {};
    for (const task of tasks) {
      const here = results.filter(({ cell }) => cell.task.learn === task.learn);
      const lines = [...new Set(here.map(({ cell }) => lineOf(cell)))];
      const best = lines.map((line) => [line, bestOf(here.filter(({ cell }) => lineOf(cell) === line))] as const);
      chosen[task.learn] = { users: rateOfUsers(task), lines: Object.fromEntries(best) };
    }
    return {
      experiment: 'rates',
      title: this.title,
      profile,
      rows: results.map((result) => ({
        ...rowOf('rates', result),
        task: result.cell.task.learn,
        rate: rateOf(result),
      })),
      tables: tasks.map((task) => {
        const grid = gridOf(profile, task);
        return {
          title: `${task.learn}: seconds to the target by the rate of the server`,
          columns: ['line', ...grid.map(String), 'chosen'],
          rows: Object.entries(chosen[task.learn]?.lines ?? {}).map(([line, rate]) => {
            const own = results.filter(({ cell }) => cell.task.learn === task.learn && lineOf(cell) === line);
            const isEdge = rate === grid[0] || rate === grid.at(-1);
            return [line, ...grid.map((one) => scoreText(own, one)), `${rate}${isEdge ? ' (edge of the grid)' : ''}`];
          }),
        };
      }),
      figures: [],
      orderings: [],
      notes: [
        `The chosen rate has the smallest geometric mean of the seconds to the target over delays and the seeds ${SEEDS.join(' and ')}. A run that did not reach the target counts as twice its length (shown as >). If no run of a line reaches it, the rate with the best accuracy in the end is chosen.`,
      ],
      ...(tasks.length > 0 && { rates: chosen }),
    };
  },
};

export function rateOf({ cell }: Pick<CellResult, 'cell'>): number {
  return (isSynchronous(cell) ? cell.task.step.rounds : cell.task.step.buffers).rate;
}

function secondsOf(runs: readonly CellResult[]): number {
  return Math.exp(mean(runs.map((run) => Math.log(run.seconds * (run.isReached ? 1 : NOT_REACHED)))));
}

function scoreText(runs: readonly CellResult[], rate: number): string {
  const own = runs.filter((run) => rateOf(run) === rate);
  if (own.length === 0) return '';
  return `${own.every(({ isReached }) => isReached) ? '' : '> '}${secondsOf(own).toFixed(0)}`;
}

/** The rate that is the fastest over all delays and seeds. */
function bestOf(results: readonly CellResult[]): number {
  const isReached = results.some((result) => result.isReached);
  const scoreOf = (rate: number): number => {
    const runs = results.filter((result) => rateOf(result) === rate);
    return isReached ? secondsOf(runs) : -mean(runs.map(({ trained }) => trained.wholeAccuracy));
  };
  const all = [...new Set(results.map(rateOf))];
  return all.sort((a, b) => scoreOf(a) - scoreOf(b))[0] as number;
}
