/**
 * Chooses the learning rate of the server for each task, with seed 0, without secure aggregation and with the delays of Table 1. All
 * protocols then use the same rate.
 */
import { CELL, exponential, isSynchronous } from '@basa/simulator/virtual-time';
import type { ChosenRates } from '../cells/changes.ts';
import { mean } from '../report/outcome.ts';
import { needsOfCells, type Profile, type Study } from '../run/context.ts';
import type { CellResult } from '../run/grid.ts';
import { type Cell, CIFAR_FLSIM, type ExperimentTask } from '../tasks/tasks.ts';
import { computeOf } from './computes.ts';
import { betaOf, NOT_REACHED, rowOf } from './protocol-cells.ts';
import { tasksOf } from './table1.ts';

/** A rate can be stable when delays spread the ages of updates, and still oscillate when all updates have the same age. */
const BUFFER_BETAS = [0, 3, 6];
/** The delays change the duration of a round, but not its result. */
const ROUND_BETA = 3;
const BUFFER_RATES = [0.7, 1, 1.4, 2];
const ROUND_RATES = [0.3, 1];
/** A rate that has not reached the target after this number of versions is given up. */
const CAP = { buffers: 220, rounds: 60 };

/** The learning rates of users, by model. */
const RATES_OF_USERS: Readonly<Record<string, readonly number[]>> = {
  femnist: [0.05, 0.1],
  cifar: [0.03, 0.1],
  flsim: [0.1],
  mnist: [0.03],
};

function ratedTasks(profile: Profile): readonly ExperimentTask[] {
  return [...tasksOf(profile), ...(profile === 'full' ? [CIFAR_FLSIM] : [])];
}

function cellsOf(profile: Profile): readonly Cell[] {
  return ratedTasks(profile).flatMap((task) =>
    (RATES_OF_USERS[task.learn] ?? []).flatMap((learningRate) =>
      candidates({ ...task, learningRate, cap: profile === 'smoke' ? task.cap : CAP }),
    ),
  );
}

function candidates(task: ExperimentTask): readonly Cell[] {
  const cell = { ...CELL, compute: computeOf('declared', task), seed: 0 };
  const { buffers, rounds } = task.step;
  return [
    ...BUFFER_RATES.flatMap((rate) => {
      const step = { rounds, buffers: { ...buffers, rate } };
      return BUFFER_BETAS.map(
        (beta): Cell => ({ ...cell, protocol: 'no SA', delay: exponential(beta), task: { ...task, step } }),
      );
    }),
    // SecAgg computes the same sum of a round.
    ...ROUND_RATES.map((rate): Cell => {
      const step = { buffers, rounds: { ...rounds, rate } };
      return { ...cell, protocol: 'SecAgg', delay: exponential(ROUND_BETA), task: { ...task, step } };
    }),
  ];
}

export const rates: Study = {
  name: 'rates',
  title: 'The rate of the server, chosen once for each task',
  cells: cellsOf,
  needs: (profile) => needsOfCells(cellsOf(profile)),
  async run({ profile, results: found }) {
    const results = await found(cellsOf(profile));
    const chosen: Record<string, ChosenRates[string]> = {};
    for (const { learn } of ratedTasks(profile)) {
      const here = results.filter(({ cell }) => cell.task.learn === learn);
      const buffers = best(here.filter(({ cell }) => !isSynchronous(cell)));
      const users = buffers?.cell.task.learningRate;
      // Users train alike in rounds.
      const rounds = best(here.filter(({ cell }) => isSynchronous(cell) && cell.task.learningRate === users));
      if (buffers === undefined || rounds === undefined || users === undefined) continue;
      chosen[learn] = { buffers: rateOf(buffers), rounds: rateOf(rounds), users };
    }
    return {
      experiment: 'rates',
      title: this.title,
      profile,
      rows: results.map((result) => ({
        ...rowOf('rates', result),
        rate: rateOf(result),
        rateOfUsers: result.cell.task.learningRate ?? '',
      })),
      tables: [
        {
          title: 'Seed 0, 32 users',
          columns: [
            'dataset',
            'algorithm',
            'beta',
            'rate of users',
            'of the server',
            'versions',
            'accuracy in the end',
            'largest fall',
            'chosen',
          ],
          rows: results.map((result) => {
            const { cell, versions, isReached } = result;
            const kind = isSynchronous(cell) ? 'rounds' : 'buffers';
            return [
              cell.task.dataset,
              kind === 'rounds' ? 'rounds, momentum 0.9' : 'buffers, damped',
              `${betaOf(cell)}`,
              `${cell.task.learningRate ?? ''}`,
              `${rateOf(result)}`,
              `${isReached ? '' : '> '}${versions}`,
              `${(100 * endOf(result)).toFixed(1)} %`,
              `${(100 * largestFall(result)).toFixed(1)} points`,
              isChosen(chosen[cell.task.learn], kind, result) ? 'yes' : '',
            ];
          }),
        },
      ],
      figures: [],
      orderings: [],
      notes: [
        'The chosen rate has the smallest geometric mean of the seconds to the target over all delays. A run that did not reach the target counts as twice its length. If no run reached it, the rate with the best final accuracy is chosen.',
      ],
      ...(Object.keys(chosen).length > 0 && { rates: chosen }),
    };
  },
};

function isChosen(chosen: ChosenRates[string] | undefined, kind: 'rounds' | 'buffers', result: CellResult): boolean {
  return chosen?.[kind] === rateOf(result) && chosen.users === result.cell.task.learningRate;
}

function rateOf({ cell }: CellResult): number {
  return (isSynchronous(cell) ? cell.task.step.rounds : cell.task.step.buffers).rate;
}

/** The mean of the last evaluations. */
function endOf({ curve }: CellResult): number {
  return mean(curve.slice(-3).map(([, accuracy]) => accuracy));
}

function largestFall({ curve }: CellResult): number {
  let [most, fall] = [0, 0];
  for (const [, accuracy] of curve) {
    most = Math.max(most, accuracy);
    fall = Math.max(fall, most - accuracy);
  }
  return fall;
}

/** The pair of rates that is the fastest over all delays. Returns one of its results. */
function best(results: readonly CellResult[]): CellResult | undefined {
  const candidates = new Map<string, CellResult[]>();
  for (const result of results) {
    const key = `${rateOf(result)} ${result.cell.task.learningRate}`;
    candidates.set(key, [...(candidates.get(key) ?? []), result]);
  }
  const isReached = results.some((result) => result.isReached);
  const scoreOf = (runs: readonly CellResult[]): number =>
    isReached
      ? mean(runs.map((run) => Math.log(run.seconds * (run.isReached ? 1 : NOT_REACHED))))
      : -mean(runs.map(endOf));
  return [...candidates.values()].sort((a, b) => scoreOf(a) - scoreOf(b))[0]?.[0];
}
