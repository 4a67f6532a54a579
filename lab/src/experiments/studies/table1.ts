/** Table 1: virtual seconds to the target, by task, delay and protocol. */
import {
  CELL,
  type Cell,
  CIFAR,
  type ExperimentTask,
  exponential,
  FEMNIST,
  isSynchronous,
  MNIST,
  MNIST_SMOKE,
  PROTOCOLS,
} from '@basa/virtual-time';
import type { Row, Table } from '../report/outcome.ts';
import { needsOfCells, type Profile, type Study } from '../run/context.ts';
import type { CellResult } from '../run/grid.ts';
import { COMPUTE_NOTES, COMPUTE_TITLES, COMPUTES, type ComputeName, computeName, computeOf } from './computes.ts';
import { learningCurves } from './learning-curves.ts';
import { lineFigure } from './lines.ts';
import { betaOf, dataNotes, type Found, isSealed, lineOf, round, rowOf, shown } from './protocol-cells.ts';
import { publishedSeconds } from './published.ts';
import { foundIn, orderingsOf } from './table1-claims.ts';

interface Grid {
  readonly tasks: readonly GridRow[];
  readonly betas: readonly number[];
}

interface GridRow {
  readonly task: ExperimentTask;
  readonly seeds: number;
  readonly protocols: readonly Line[];
}

type Line = Pick<Cell, 'protocol' | 'versions'>;

/** Every protocol; sealed ones as the paper mixes versions, and with one version a buffer as new tasks have it. */
const LINES: readonly Line[] = PROTOCOLS.flatMap((protocol) =>
  (isSealed(protocol) ? (['unsafeMixed', 'one'] as const) : [CELL.versions]).map((versions) => ({
    protocol,
    versions,
  })),
);
/** Without the kinder readings of LightSecAgg's wait: MNIST shows what they change. */
const ONE_READING = LINES.filter(({ protocol }) => !protocol.includes(','));

const GRIDS: Readonly<Record<Profile, Grid>> = {
  smoke: { tasks: [{ task: MNIST_SMOKE, seeds: 1, protocols: ONE_READING }], betas: [0, 3] },
  small: { tasks: [{ task: MNIST, seeds: 20, protocols: LINES }], betas: [0, 3, 6] },
  full: {
    tasks: [
      { task: MNIST, seeds: 20, protocols: LINES },
      { task: FEMNIST, seeds: 5, protocols: ONE_READING },
      { task: CIFAR, seeds: 5, protocols: ONE_READING },
    ],
    betas: [0, 3, 6],
  },
};

export function tasksOf(profile: Profile): readonly ExperimentTask[] {
  return GRIDS[profile].tasks.map(({ task }) => task);
}

function cellsOf(profile: Profile): readonly Cell[] {
  const { tasks, betas } = GRIDS[profile];
  return tasks.flatMap(({ task, seeds, protocols }) =>
    COMPUTES.flatMap((name) =>
      betas.flatMap((beta) =>
        protocols.flatMap((line) =>
          Array.from({ length: seeds }, (_, n): Cell => {
            const compute = computeOf(name, task);
            return { ...CELL, ...line, task, delay: exponential(beta), compute, seed: n + 1 };
          }),
        ),
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
    const grid = GRIDS[profile];
    const tasks = tasksOf(profile).filter((task) => results.some(({ cell }) => cell.task.dataset === task.dataset));
    return {
      experiment: 'table1',
      title: this.title,
      profile,
      rows: COMPUTES.flatMap((compute) => summaryRows(results, compute)),
      tables: COMPUTES.flatMap((compute) => tasks.map((task) => tableOf(results, grid, task, compute))),
      figures: tasks.flatMap(({ dataset }) => {
        const here = results.filter(
          ({ cell }) =>
            cell.task.dataset === dataset && computeName(cell) === 'declared' && !cell.protocol.includes(','),
        );
        return [
          lineFigure(
            `table1-${dataset}`,
            `${dataset}: Table 1, declared devices`,
            here,
            dataset,
            ONE_READING.map(lineOf),
            {
              x: 'beta, s',
              of: betaOf,
            },
          ),
          learningCurves(`table1-${dataset}-curves`, `${dataset}, beta 3, seed 1: accuracy by virtual time`, here, 3),
        ];
      }),
      orderings: orderingsOf(results, tasks, grid.betas),
      notes: [
        'Virtual seconds, mean ± standard deviation over seeds, until the mean of three evaluations has the target accuracy. "> x": not reached when the run was given up. Blank: not run.',
        ...COMPUTE_NOTES,
        ...dataNotes(tasks),
        'What a protocol costs is "s a version" beside that of no SA: it depends on queues alone. Seconds to the target also depend on how many versions an order of updates happens to need.',
        'Seconds of the paper are of other machines, other cryptography and other data: compare orders, not values.',
        'LightSecAgg: U = 0.7 N, T = N / 2, its offline part beside the training, pairwise keys not charged. "LSA async" loses what arrives while it waits for U answers, the reading that fits the paper; barrier and background are the kinder ones.',
        'Asynchronous protocols have the same step (damped by the mean age, exponent 1/2), the same places (auto, target age 3) and the same bound of two buffers that wait; the server opens sums with four threads.',
      ],
    };
  },
};

function summaryRows(results: readonly CellResult[], compute: ComputeName): readonly Row[] {
  const names = new Map(
    results
      .filter(({ cell }) => computeName(cell) === compute)
      .map(({ cell }) => [`${cell.task.dataset} ${betaOf(cell)} ${lineOf(cell)}`, cell]),
  );
  return [...names.values()].map((cell) => {
    const found = foundIn(results, compute)(cell.task, betaOf(cell), lineOf(cell)) as Found;
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
  { betas, tasks }: Grid,
  task: ExperimentTask,
  compute: ComputeName,
): Table {
  const protocols = tasks.find((row) => row.task.dataset === task.dataset)?.protocols ?? [];
  const found = foundIn(results, compute);
  const columns = ['seconds', 'to no SA', 'versions', 's a version', 'to no SA', 'paper, s'];
  return {
    title: `${task.dataset} to ${100 * task.target} %: ${COMPUTE_TITLES[compute]}`,
    groups: [{ title: '', columns: 1 }, ...betas.map((beta) => ({ title: `beta ${beta}`, columns: columns.length }))],
    columns: ['protocol', ...betas.flatMap(() => columns)],
    rows: protocols.map((line) => [
      lineOf(line),
      ...betas.flatMap((beta) => {
        const here = found(task, beta, lineOf(line));
        const plain = found(task, beta, 'no SA');
        const published = publishedSeconds(task.dataset, lineOf(line), beta);
        return [
          shown(here),
          here && plain ? (here.seconds / plain.seconds).toFixed(2) : '',
          here?.versions.toFixed(1) ?? '',
          here?.secondsPerVersion.toFixed(3) ?? '',
          here && plain && !isSynchronous(line) ? (here.secondsPerVersion / plain.secondsPerVersion).toFixed(3) : '',
          published?.toString() ?? '',
        ];
      }),
    ]),
  };
}
