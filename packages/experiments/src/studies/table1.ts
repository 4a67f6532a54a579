/** Table 1: virtual seconds to the target, by task, delay and protocol. */
import type { Cell, ProtocolName } from '../cell.ts';
import { CELL, exponential, isSynchronous, PROTOCOLS } from '../cell.ts';
import type { Profile, Study } from '../context.ts';
import { needsOfCells } from '../context.ts';
import { allNeeds } from '../costs/needs.ts';
import type { CellResult } from '../grid.ts';
import type { Ordering, Table } from '../outcome.ts';
import { ordering } from '../outcome.ts';
import type { ExperimentTask } from '../tasks.ts';
import { CIFAR, CIFAR_SMALL, FEMNIST, FEMNIST_SMALL, MNIST, MNIST_SMOKE } from '../tasks.ts';
import { lineFigure } from './lines.ts';
import type { Found } from './protocol-cells.ts';
import { betaOf, overSeeds, round, rowOf, shown } from './protocol-cells.ts';
import { publishedSeconds } from './published.ts';

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

/** The two variants: training as it is measured here, and the paper's devices by its table (fact sheet 3.3). */
const DEVICE_SECONDS = 1;
const COMPUTES: readonly Cell['compute'][] = ['measured', DEVICE_SECONDS];

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
        'Virtual seconds, mean ± standard deviation over seeds, until the first evaluation with the target accuracy. "> x": not reached when the run was given up.',
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

function foundIn(
  results: readonly CellResult[],
  compute: Cell['compute'],
): (task: ExperimentTask, beta: number, protocol: ProtocolName) => Found | undefined {
  return (task, beta, protocol) =>
    overSeeds(
      results,
      (cell) => cell.task === task && cell.compute === compute && cell.protocol === protocol && betaOf(cell) === beta,
    );
}

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

/** Fixed before any run (fact sheet 7.1 and the aims of the issue). */
function orderingsOf(
  results: readonly CellResult[],
  tasks: readonly ExperimentTask[],
  betas: readonly number[],
): Ordering[] {
  const claims: Ordering[] = [];
  for (const compute of COMPUTES) {
    const variant = compute === 'measured' ? 'measured training' : `${compute} s of training`;
    const found = foundIn(results, compute);
    const pairs = (
      from: number,
      left: ProtocolName,
      right: ProtocolName,
      more: (beta: number) => boolean = () => true,
    ): (readonly [string, number | undefined, number | undefined])[] =>
      tasks.flatMap((task) =>
        betas
          .filter((beta) => beta >= from && more(beta))
          .map(
            (beta) =>
              [
                `${task.dataset}, beta ${beta}`,
                found(task, beta, left)?.seconds,
                found(task, beta, right)?.seconds,
              ] as const,
          ),
      );
    const rivals = ['SecAgg', 'SecAgg+', 'LSA sync', 'LSA async'] as const;
    claims.push(
      ordering(
        `${variant}, beta >= 3: BASA sealed takes at most 1.05 times as long as no SA`,
        pairs(3, 'BASA sealed', 'no SA'),
        1.05,
      ),
      ordering(
        `${variant}, beta >= 3: BASA sealed is ahead of SecAgg, SecAgg+ and both LSA`,
        rivals.flatMap((rival) =>
          pairs(3, 'BASA sealed', rival).map(([where, ...rest]) => [`${where}, ${rival}`, ...rest] as const),
        ),
      ),
      ordering(
        `${variant}, beta >= 3: BASA paper is ahead of SecAgg, LSA sync and LSA async, as in the paper`,
        (['SecAgg', 'LSA sync', 'LSA async'] as const).flatMap((rival) =>
          pairs(3, 'BASA paper', rival).map(([where, ...rest]) => [`${where}, ${rival}`, ...rest] as const),
        ),
      ),
      ordering(`${variant}, beta >= 3: LSA sync takes no longer than SecAgg`, pairs(3, 'LSA sync', 'SecAgg'), 1.02),
      ordering(`${variant}: BASA sealed takes no longer than BASA paper`, pairs(0, 'BASA sealed', 'BASA paper'), 1.02),
    );
    if (compute !== 'measured') {
      claims.push(
        ordering(
          `${variant}, every beta: BASA sealed takes at most 1.05 times as long as no SA`,
          pairs(0, 'BASA sealed', 'no SA'),
          1.05,
        ),
        ordering(
          `${variant}, beta 0: BASA sealed is ahead of SecAgg, SecAgg+ and both LSA`,
          rivals.flatMap((rival) =>
            pairs(0, 'BASA sealed', rival, (beta) => beta === 0).map(
              ([where, ...rest]) => [`${where}, ${rival}`, ...rest] as const,
            ),
          ),
        ),
      );
    }
  }
  return claims;
}
