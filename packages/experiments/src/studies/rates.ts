/** The rate of the server by task: chosen on seed 0, without secure aggregation at beta 3, then the same for every protocol. */
import type { Cell } from '../cell.ts';
import { CELL, exponential, isSynchronous } from '../cell.ts';
import type { ChosenRates } from '../changes.ts';
import type { Profile, Study } from '../context.ts';
import { needsOfCells } from '../context.ts';
import type { CellResult } from '../grid.ts';
import { mean } from '../outcome.ts';
import type { ExperimentTask } from '../tasks.ts';
import { CIFAR, CIFAR_SMALL, FEMNIST, FEMNIST_SMALL, MNIST, MNIST_SMOKE } from '../tasks.ts';
import { computeOf } from './computes.ts';
import { rowOf } from './protocol-cells.ts';

const BETA = 3;
const BUFFER_RATES = [0.5, 1, 2];
const ROUND_RATES = [0.3, 1];
/** Versions after which a rate that did not reach the target is given up. */
const CAP = { buffers: 220, rounds: 60 };

interface Candidate {
  readonly task: ExperimentTask;
  /** Rates of the users. */
  readonly users: readonly number[];
}

const TASKS: Readonly<Record<Profile, readonly Candidate[]>> = {
  smoke: [{ task: MNIST_SMOKE, users: [0.03] }],
  small: [
    { task: FEMNIST_SMALL, users: [0.1, 0.2] },
    { task: CIFAR_SMALL, users: [0.05, 0.1] },
    { task: MNIST, users: [0.03] },
  ],
  full: [
    { task: FEMNIST, users: [0.05] },
    { task: CIFAR, users: [0.03] },
    { task: MNIST, users: [0.03] },
  ],
};
/** The same network with other users: one choice is for both. */
const ALSO: Readonly<Record<string, string>> = { 'cifar-small': 'flsim-small', cifar: 'flsim' };

function cellsOf(profile: Profile): readonly Cell[] {
  return TASKS[profile].flatMap(({ task, users }) =>
    users.flatMap((learningRate): Cell[] => {
      const cap = profile === 'smoke' ? task.cap : CAP;
      const cell = { ...CELL, delay: exponential(BETA), compute: computeOf('declared', task), seed: 0 };
      const { buffers, rounds } = task.step;
      return [
        ...BUFFER_RATES.map((rate): Cell => {
          const step = { rounds, buffers: { ...buffers, rate } };
          return { ...cell, protocol: 'no SA', task: { ...task, cap, step, learningRate } };
        }),
        // The plain sum of a round is what SecAgg makes of it.
        ...ROUND_RATES.map((rate): Cell => {
          const step = { buffers, rounds: { ...rounds, rate } };
          return { ...cell, protocol: 'SecAgg', task: { ...task, cap, step, learningRate } };
        }),
      ];
    }),
  );
}

export const rates: Study = {
  name: 'rates',
  title: 'The rate of the server, chosen once for each task',
  cells: cellsOf,
  needs: (profile) => needsOfCells(cellsOf(profile)),
  async run({ profile, results: found }) {
    const results = await found(cellsOf(profile));
    const chosen: Record<string, ChosenRates[string]> = {};
    for (const { task } of TASKS[profile]) {
      const { learn } = task;
      const here = results.filter(({ cell }) => cell.task.learn === learn);
      const buffers = best(here.filter(({ cell }) => !isSynchronous(cell)));
      const users = buffers?.cell.task.learningRate;
      // Users train alike in rounds.
      const rounds = best(here.filter(({ cell }) => isSynchronous(cell) && cell.task.learningRate === users));
      if (buffers === undefined || rounds === undefined || users === undefined) continue;
      chosen[learn] = { buffers: rateOf(buffers), rounds: rateOf(rounds), users };
      const other = ALSO[learn];
      if (other !== undefined) chosen[other] = chosen[learn];
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
          title: `Seed 0, beta ${BETA}, 32 users`,
          columns: [
            'dataset',
            'algorithm',
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
        'Of those that need at most a fifth more versions than the fastest, the smallest gain (rate of the server times that of the users): a rate that is just stable here swings at delays where all updates are equally old. Where none came to the target, the most accurate in the end.',
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

/** So much slower than the fastest is no difference on one seed. */
const NEAR = 1.2;

/**
 * Of those about as fast as the fastest, the one with the smallest gain: at other delays ages are more alike, and a rate that is just
 * stable here swings there.
 */
function best(results: readonly CellResult[]): CellResult | undefined {
  const reached = results.filter(({ isReached }) => isReached);
  if (reached.length === 0) return [...results].sort((a, b) => endOf(b) - endOf(a))[0];
  const fewest = Math.min(...reached.map(({ versions }) => versions));
  const gainOf = (result: CellResult): number => rateOf(result) * (result.cell.task.learningRate ?? 1);
  return reached
    .filter(({ versions }) => versions <= NEAR * fewest)
    .sort((a, b) => gainOf(a) - gainOf(b) || a.versions - b.versions)[0];
}
