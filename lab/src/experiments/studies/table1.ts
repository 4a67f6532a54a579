/** Table 1: virtual seconds to the target, by task, delay and line. */
import { CELL, exponential, isSynchronous } from '@basa/simulator/virtual-time';
import type { Row, Table } from '../report/outcome.ts';
import { needsOfCells, type Profile, type Study } from '../run/context.ts';
import type { CellResult } from '../run/grid.ts';
import {
  type Cell,
  CIFAR,
  type ExperimentTask,
  FEMNIST,
  FIRST_SEED,
  freshSeeds,
  MNIST,
  MNIST_SMOKE,
  titleOf,
} from '../tasks/tasks.ts';
import { learningCurves } from './learning-curves.ts';
import { lineFigure } from './lines.ts';
import { betaOf, dataNotes, type Found, round, rowOf, shown } from './protocol-cells.ts';
import { publishedSeconds } from './published.ts';
import { ALL_RACERS, FIGURE_LINES, lineOf, RACERS, type Racer, race } from './racers.ts';
import { foundIn, orderingsOf } from './table1-claims.ts';

interface Grid {
  readonly tasks: readonly { readonly task: ExperimentTask; readonly seeds: number }[];
  readonly betas: readonly number[];
}

const GRIDS: Readonly<Record<Profile, Grid>> = {
  smoke: { tasks: [{ task: MNIST_SMOKE, seeds: 1 }], betas: [0, 3] },
  small: { tasks: [{ task: MNIST, seeds: 20 }], betas: [0, 3, 6] },
  full: {
    tasks: [
      { task: MNIST, seeds: 20 },
      { task: FEMNIST, seeds: 10 },
      { task: CIFAR, seeds: 10 },
    ],
    betas: [0, 3, 6],
  },
};

/** In a smoke run, one line of each protocol and each kind of setting. */
const SMOKE_LINES: readonly Racer[] = [
  'no SA',
  'BASA paper',
  'BASA one-shot',
  'BASA one-shot, 3 a version',
  'BASA one-shot, groups of 5',
  'SecAgg',
  'SecAgg+, 24 of 32',
  'LSA async',
];

export function tasksOf(profile: Profile): readonly ExperimentTask[] {
  return GRIDS[profile].tasks.map(({ task }) => task);
}

/** On the networks that take long to train, the lines whose difference MNIST shows to be small are left out. */
export function linesOf(profile: Profile, { dataset }: ExperimentTask): readonly Racer[] {
  if (profile === 'smoke') return SMOKE_LINES;
  return dataset === 'MNIST' ? ALL_RACERS : ALL_RACERS.filter((line) => !line.startsWith('SecAgg,'));
}

function cellsOf(profile: Profile): readonly Cell[] {
  const { tasks, betas } = GRIDS[profile];
  return tasks.flatMap(({ task, seeds }) =>
    betas.flatMap((beta) =>
      linesOf(profile, task).flatMap((line) =>
        freshSeeds(seeds).map((seed) => {
          const { secondsAnExample } = task;
          return race(line, { ...CELL, task, delay: exponential(beta), compute: { secondsAnExample }, seed });
        }),
      ),
    ),
  );
}

export const table1: Study = {
  name: 'table1',
  title: 'Table 1: time to the target accuracy, 32 users, K = 10',
  cells: cellsOf,
  needs: (profile) => needsOfCells(cellsOf(profile)),
  async run({ profile, results: found }) {
    const results = await found(cellsOf(profile));
    const { betas } = GRIDS[profile];
    const tasks = tasksOf(profile).filter((task) => results.some(({ cell }) => cell.task.dataset === task.dataset));
    return {
      experiment: 'table1',
      title: this.title,
      profile,
      rows: summaryRows(results),
      tables: tasks.map((task) => tableOf(results, betas, task, linesOf(profile, task))),
      figures: tasks.flatMap((task) => {
        const { dataset } = task;
        const here = results.filter(
          ({ cell }) => cell.task.dataset === dataset && FIGURE_LINES.some((line) => line === lineOf(cell)),
        );
        return [
          lineFigure(`table1-${dataset}`, `${titleOf(task)}: seconds to the target`, here, dataset, FIGURE_LINES, {
            x: 'beta, s',
            of: betaOf,
          }),
          learningCurves(
            `table1-${dataset}-curves`,
            `${titleOf(task)}, beta 3, seed ${FIRST_SEED}: accuracy by virtual time`,
            here,
            3,
          ),
        ];
      }),
      orderings: orderingsOf(results, tasks, betas),
      notes: [
        'Times are virtual seconds, as mean ± standard deviation over seeds, until the mean of three evaluations has the target accuracy. "> x" means that the run ended without reaching the target. Blank cells were not run.',
        'Devices are declared: a trip of an average user takes about one second, in proportion to its examples. Protocol costs are measured.',
        ...dataNotes(tasks),
        'To see the cost of a protocol, compare its "s a version" with that of no SA: this number depends only on queues. Seconds to the target also depend on the number of versions that the order of the updates happens to need.',
        'The seconds of the paper were measured on other machines, with other cryptography and other data. Compare orders, not values.',
        '"24 of 32": over-selection, a round ends with the first 24 uploads. "Deadline": a round ends after two trips of an average user, if enough have uploaded. "3 a version": a batch mixes versions if each has three updates in it. "Groups of 5": batches of five, steps of ten updates. "Plain FedBuff": no damping, and no limit of places.',
        'LightSecAgg has U = 0.7 N and T = N / 2. Its offline part runs during the training, and pairwise keys are not charged. "LSA async" loses updates that arrive while it waits for U answers, the interpretation that fits the paper. "Barrier" and "background" are interpretations that favour LightSecAgg.',
        'All asynchronous protocols but plain FedBuff have the same step (damped by the mean age, exponent 1/2), the same places (four times K) and the same limit of two waiting buffers. Every server has four threads.',
      ],
    };
  },
};

function summaryRows(results: readonly CellResult[]): readonly Row[] {
  const names = new Map(
    results.map(({ cell }) => [`${cell.task.dataset} ${betaOf(cell)} ${lineOf(cell)}`, cell] as const),
  );
  return [...names.values()].map((cell) => {
    const found = foundIn(results)(cell.task, betaOf(cell), lineOf(cell)) as Found;
    const one = results.find((result) => result.cell === cell) as CellResult;
    return {
      ...rowOf('table1', one),
      seed: 'all',
      seeds: found.seeds,
      trajectory: '',
      seconds: round(found.seconds),
      virtualSeconds: round(found.seconds),
      deviation: round(found.deviation),
      aggregations: round(found.versions),
      secondsPerAggregation: round(found.secondsPerVersion),
      meanAge: round(found.meanAge),
      reached: found.isReached,
      finalAccuracy: round(found.accuracy),
    };
  });
}

function tableOf(
  results: readonly CellResult[],
  betas: readonly number[],
  task: ExperimentTask,
  lines: readonly Racer[],
): Table {
  const found = foundIn(results);
  const columns = ['seconds', 'to no SA', 'versions', 's a version', 'to no SA', 'paper, s'];
  return {
    title: `${titleOf(task)} to ${100 * task.target} %`,
    groups: [{ title: '', columns: 1 }, ...betas.map((beta) => ({ title: `beta ${beta}`, columns: columns.length }))],
    columns: ['line', ...betas.flatMap(() => columns)],
    rows: lines.map((line) => [
      line,
      ...betas.flatMap((beta) => {
        const here = found(task, beta, line);
        const plain = found(task, beta, 'no SA');
        const published = publishedSeconds(task.dataset, line, beta);
        return [
          shown(here),
          here && plain ? (here.seconds / plain.seconds).toFixed(2) : '',
          here?.versions.toFixed(1) ?? '',
          here?.secondsPerVersion.toFixed(3) ?? '',
          here && plain && !isSynchronous(RACERS[line])
            ? (here.secondsPerVersion / plain.secondsPerVersion).toFixed(3)
            : '',
          published?.toString() ?? '',
        ];
      }),
    ]),
  };
}
