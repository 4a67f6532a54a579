/** Table 1: virtual seconds to the target, by task, delay and protocol. */
import type { Cell, ProtocolName } from '../cell.ts';
import { CELL, exponential, isSynchronous, PROTOCOLS } from '../cell.ts';
import type { Profile, Study } from '../context.ts';
import { needsOfCells } from '../context.ts';
import { allNeeds } from '../costs/needs.ts';
import type { CellResult } from '../grid.ts';
import type { Table } from '../outcome.ts';
import type { ExperimentTask } from '../tasks.ts';
import { CIFAR, CIFAR_SMALL, FEMNIST, FEMNIST_SMALL, MNIST, MNIST_SMOKE } from '../tasks.ts';
import { lineFigure } from './lines.ts';
import type { Found } from './protocol-cells.ts';
import { betaOf, round, rowOf, shown } from './protocol-cells.ts';
import { publishedSeconds } from './published.ts';
import { COMPUTES, DEVICE_SECONDS, foundIn, orderingsOf } from './table1-claims.ts';

interface Grid {
  readonly tasks: readonly Row[];
  readonly betas: readonly number[];
}

interface Row {
  readonly task: ExperimentTask;
  readonly seeds: number;
  readonly protocols: readonly ProtocolName[];
}

/** Without the kinder readings of LightSecAgg's wait: MNIST shows what they change. */
const ONE_READING = PROTOCOLS.filter((name) => !name.includes(','));

const GRIDS: Readonly<Record<Profile, Grid>> = {
  smoke: { tasks: [{ task: MNIST_SMOKE, seeds: 1, protocols: ONE_READING }], betas: [0, 3] },
  small: {
    tasks: [
      { task: MNIST, seeds: 5, protocols: PROTOCOLS },
      { task: FEMNIST_SMALL, seeds: 3, protocols: ONE_READING },
      { task: CIFAR_SMALL, seeds: 3, protocols: ONE_READING },
    ],
    betas: [0, 3, 6],
  },
  full: {
    tasks: [
      { task: MNIST, seeds: 5, protocols: PROTOCOLS },
      { task: FEMNIST, seeds: 3, protocols: PROTOCOLS },
      { task: CIFAR, seeds: 3, protocols: PROTOCOLS },
    ],
    betas: [0, 3, 6],
  },
};

function cellsOf(profile: Profile): readonly Cell[] {
  const { tasks, betas } = GRIDS[profile];
  return tasks.flatMap(({ task, seeds, protocols }) =>
    COMPUTES.flatMap((compute) =>
      betas.flatMap((beta) =>
        protocols.flatMap((protocol) =>
          Array.from({ length: seeds }, (_, n): Cell => {
            return { ...CELL, task, protocol, delay: exponential(beta), compute, seed: n + 1 };
          }),
        ),
      ),
    ),
  );
}

export const table1: Study = {
  name: 'table1',
  title: 'Table 1: time to the target accuracy, 32 users, K = 10',
  needs: (profile) => allNeeds(needsOfCells(cellsOf(profile))),
  async run({ profile, train }) {
    const results = await train(cellsOf(profile));
    const grid = GRIDS[profile];
    const tasks = grid.tasks.map(({ task }) => task).filter((task) => results.some(({ cell }) => cell.task === task));
    const summary = COMPUTES.flatMap((compute) => summaryRows(results, compute));
    return {
      experiment: 'table1',
      title: this.title,
      profile,
      rows: summary,
      tables: COMPUTES.flatMap((compute) => tasks.map((task) => tableOf(results, grid, task, compute))),
      figures: tasks.map(({ dataset }) =>
        lineFigure(
          `table1-${dataset}`,
          `${dataset}: Table 1 with ${DEVICE_SECONDS} s of training a trip`,
          results.filter(({ cell }) => cell.compute === DEVICE_SECONDS),
          dataset,
          ONE_READING,
          { x: 'beta, s', of: betaOf },
        ),
      ),
      orderings: orderingsOf(results, tasks, grid.betas),
      notes: [
        'Virtual seconds, mean ± standard deviation over seeds, until the first evaluation with the target accuracy. "> x": not reached when the run was given up. Blank: not run.',
        '"measured": training costs what this machine takes for the network that is charged. "1 s": every trip trains for one second, declared; protocol costs are measured in both.',
        ...tasks
          .filter(({ isHybrid }) => isHybrid)
          .map(
            ({ dataset, dimension, mostExamples }) =>
              `${dataset} is a hybrid: a smaller network really learns (at most ${mostExamples} examples a trip), time is charged for the paper's of ${dimension.toLocaleString('en')} parameters.`,
          ),
        ...(tasks.some(({ dataset }) => dataset === 'FEMNIST')
          ? ['FEMNIST is a synthetic stand-in drawn with handwriting fonts, not the LEAF data.']
          : []),
        'What a protocol costs is "s a version" to that of no SA: it depends on queues alone. Seconds to the target also depend on how many versions an order of updates happens to need, which differs from order to order far more than by 5 %, most of all where there is one seed.',
        'Seconds of the paper are of other machines, other cryptography and other data: compare orders, not values.',
        'LightSecAgg: U = 0.7 N, T = N / 2, its offline part beside the training, pairwise keys not charged. "LSA async" loses what arrives while it waits for U answers, the reading that fits the paper; barrier and background are the kinder ones.',
      ],
    };
  },
};

function summaryRows(results: readonly CellResult[], compute: Cell['compute']) {
  const names = new Map(
    results
      .filter(({ cell }) => cell.compute === compute)
      .map(({ cell }) => [`${cell.task.dataset} ${betaOf(cell)} ${cell.protocol}`, cell]),
  );
  return [...names.values()].map((cell) => {
    const found = foundIn(results, compute)(cell.task, betaOf(cell), cell.protocol) as Found;
    const one = results.find((result) => result.cell === cell) as CellResult;
    return {
      ...rowOf('table1', one),
      seed: 'all',
      trajectory: '',
      seconds: round(found.seconds),
      virtualSeconds: round(found.seconds),
      deviation: round(found.deviation),
      aggregations: round(found.versions),
      reached: found.isReached,
      finalAccuracy: round(found.accuracy),
    };
  });
}

function tableOf(
  results: readonly CellResult[],
  { betas, tasks }: Grid,
  task: ExperimentTask,
  compute: Cell['compute'],
): Table {
  const protocols = tasks.find((row) => row.task === task)?.protocols ?? [];
  const found = foundIn(results, compute);
  const variant = compute === 'measured' ? 'training as measured here' : `${compute} s of training a trip, declared`;
  return {
    title: `${task.dataset}${task.isHybrid ? ' (hybrid)' : ''} to ${100 * task.target} %: ${variant}`,
    columns: [
      'protocol',
      ...betas.flatMap((beta) => [`beta ${beta}: s`, 'to no SA', 'versions', 's a version', 'to no SA', 'paper: s']),
    ],
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
            ? (here.secondsPerVersion / plain.secondsPerVersion).toFixed(2)
            : '',
          published?.toString() ?? '',
        ];
      }),
    ]),
  };
}
