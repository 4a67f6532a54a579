/** Table 1: virtual seconds to the target, by task, delay and protocol. */
import { CELL, exponential, isSynchronous, PROTOCOLS, type ProtocolName } from '@basa/simulator/virtual-time';
import type { Row, Table } from '../report/outcome.ts';
import { needsOfCells, type Profile, type Study } from '../run/context.ts';
import type { CellResult } from '../run/grid.ts';
import { type Cell, CIFAR, type ExperimentTask, FEMNIST, MNIST, MNIST_SMOKE } from '../tasks/tasks.ts';
import { COMPUTE_NOTES, COMPUTE_TITLES, COMPUTES, type ComputeName, computeName, computeOf } from './computes.ts';
import { learningCurves } from './learning-curves.ts';
import { lineFigure } from './lines.ts';
import { betaOf, dataNotes, type Found, round, rowOf, shown } from './protocol-cells.ts';
import { publishedSeconds } from './published.ts';
import { foundIn, orderingsOf } from './table1-claims.ts';

interface Grid {
  readonly tasks: readonly GridRow[];
  readonly betas: readonly number[];
}

interface GridRow {
  readonly task: ExperimentTask;
  readonly seeds: number;
  /** Of the protocols in CLOSE. */
  readonly closeSeeds?: number;
  readonly protocols: readonly ProtocolName[];
}

/** Without the interpretations of LightSecAgg's wait that favour it. MNIST shows how much they change. */
const ONE_READING = PROTOCOLS.filter((protocol) => !protocol.includes(','));
/** Their times differ by less than the noise of five trainings, so they get the most seeds. */
const CLOSE: readonly ProtocolName[] = ['no SA', 'BASA paper', 'BASA one-shot', 'SecAgg', 'SecAgg+', 'LSA sync'];

const GRIDS: Readonly<Record<Profile, Grid>> = {
  smoke: { tasks: [{ task: MNIST_SMOKE, seeds: 1, protocols: ONE_READING }], betas: [0, 3] },
  small: { tasks: [{ task: MNIST, seeds: 20, protocols: PROTOCOLS }], betas: [0, 3, 6] },
  full: {
    tasks: [
      { task: MNIST, seeds: 20, protocols: PROTOCOLS },
      { task: FEMNIST, seeds: 5, closeSeeds: 20, protocols: ONE_READING },
      { task: CIFAR, seeds: 5, closeSeeds: 20, protocols: ONE_READING },
    ],
    betas: [0, 3, 6],
  },
};

export function tasksOf(profile: Profile): readonly ExperimentTask[] {
  return GRIDS[profile].tasks.map(({ task }) => task);
}

function cellsOf(profile: Profile): readonly Cell[] {
  const { tasks, betas } = GRIDS[profile];
  return tasks.flatMap(({ task, seeds, closeSeeds = seeds, protocols }) =>
    COMPUTES.flatMap((name) =>
      betas.flatMap((beta) =>
        protocols.flatMap((protocol) =>
          Array.from({ length: CLOSE.includes(protocol) ? closeSeeds : seeds }, (_, n): Cell => {
            const compute = computeOf(name, task);
            return { ...CELL, protocol, task, delay: exponential(beta), compute, seed: n + 1 };
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
          lineFigure(`table1-${dataset}`, `${dataset}: Table 1, declared devices`, here, dataset, ONE_READING, {
            x: 'beta, s',
            of: betaOf,
          }),
          learningCurves(`table1-${dataset}-curves`, `${dataset}, beta 3, seed 1: accuracy by virtual time`, here, 3),
        ];
      }),
      orderings: orderingsOf(results, tasks, grid.betas),
      notes: [
        'Times are virtual seconds, as mean ± standard deviation over seeds, until the mean of three evaluations has the target accuracy. "> x" means that the run ended without reaching the target. Blank cells were not run.',
        ...COMPUTE_NOTES,
        ...dataNotes(tasks),
        'To see the cost of a protocol, compare its "s a version" with that of no SA: this number depends only on queues. Seconds to the target also depend on the number of versions that the order of the updates happens to need.',
        'The seconds of the paper were measured on other machines, with other cryptography and other data. Compare orders, not values.',
        'LightSecAgg has U = 0.7 N and T = N / 2. Its offline part runs during the training, and pairwise keys are not charged. "LSA async" loses updates that arrive while it waits for U answers, the interpretation that fits the paper. "Barrier" and "background" are interpretations that favour LightSecAgg.',
        'All asynchronous protocols have the same step (damped by the mean age, exponent 1/2), the same places (four times K, so that updates are about 3 versions old) and the same limit of two waiting buffers. The server opens sums with four threads. A batch of one-shot mode has one version of the model; all other buffers mix versions.',
      ],
    };
  },
};

function summaryRows(results: readonly CellResult[], compute: ComputeName): readonly Row[] {
  const names = new Map(
    results
      .filter(({ cell }) => computeName(cell) === compute)
      .map(({ cell }) => [`${cell.task.dataset} ${betaOf(cell)} ${cell.protocol}`, cell]),
  );
  return [...names.values()].map((cell) => {
    const found = foundIn(results, compute)(cell.task, betaOf(cell), cell.protocol) as Found;
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
    rows: protocols.map((protocol) => [
      protocol,
      ...betas.flatMap((beta) => {
        const here = found(task, beta, protocol);
        const plain = found(task, beta, 'no SA');
        const published = publishedSeconds(task.dataset, protocol, beta);
        return [
          shown(here),
          here && plain ? (here.seconds / plain.seconds).toFixed(2) : '',
          here?.versions.toFixed(1) ?? '',
          here?.secondsPerVersion.toFixed(3) ?? '',
          here && plain && !isSynchronous({ protocol })
            ? (here.secondsPerVersion / plain.secondsPerVersion).toFixed(3)
            : '',
          published?.toString() ?? '',
        ];
      }),
    ]),
  };
}
