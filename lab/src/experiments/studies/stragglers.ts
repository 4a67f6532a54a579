/**
 * Our study: delays with heavy tails compared with the paper's exponential delay of the same mean, and whether one version per buffer
 * helps.
 */
import { CELL, type Cell, type ExperimentTask, exponential, FEMNIST, MNIST, MNIST_SMOKE } from '@basa/virtual-time';
import { ordering, type Table } from '../report/outcome.ts';
import { needsOfCells, type Profile, type Study } from '../run/context.ts';
import type { CellResult } from '../run/grid.ts';
import { computeOf } from './computes.ts';
import { reachedClaim } from './lines.ts';
import { dataNotes, type Found, type LineName, lineOf, overSeeds, pairOf, rowOf, shown } from './protocol-cells.ts';
import { OURS } from './table1-claims.ts';

const MEAN_SECONDS = 6;
/** Both heavy tails have the mean of the exponential delay. The variance of the second is infinite. */
const [SIGMA, SHAPE] = [2, 1.2];
const DELAYS: Readonly<Record<string, Cell['delay']>> = {
  exponential: exponential(MEAN_SECONDS),
  lognormal: { kind: 'lognormal', median: MEAN_SECONDS / Math.exp(SIGMA ** 2 / 2), sigma: SIGMA },
  pareto: { kind: 'pareto', least: (MEAN_SECONDS * (SHAPE - 1)) / SHAPE, shape: SHAPE },
};
const TAILS = ['lognormal', 'pareto'] as const;

const LINES: readonly Pick<Cell, 'protocol' | 'versions'>[] = [
  { protocol: 'no SA', versions: 'unsafeMixed' },
  { protocol: OURS, versions: 'unsafeMixed' },
  { protocol: OURS, versions: 'one' },
  { protocol: 'BASA one-shot', versions: 'unsafeMixed' },
  { protocol: 'SecAgg', versions: 'unsafeMixed' },
];
const NAMES = LINES.map(lineOf);

const GRIDS: Readonly<Record<Profile, readonly { readonly task: ExperimentTask; readonly seeds: number }[]>> = {
  smoke: [{ task: MNIST_SMOKE, seeds: 1 }],
  small: [{ task: { ...MNIST, cap: { buffers: 300, rounds: 60 } }, seeds: 10 }],
  full: [
    { task: { ...MNIST, cap: { buffers: 300, rounds: 60 } }, seeds: 10 },
    { task: FEMNIST, seeds: 12 },
  ],
};

function cellsOf(profile: Profile): readonly Cell[] {
  return GRIDS[profile].flatMap(({ task, seeds }) =>
    Object.values(DELAYS).flatMap((delay) =>
      LINES.flatMap((line) =>
        Array.from({ length: seeds }, (_, n): Cell => {
          return { ...CELL, ...line, task, delay, compute: computeOf('declared', task), seed: n + 1 };
        }),
      ),
    ),
  );
}

type Lookup = (task: ExperimentTask, delay: string, line: LineName) => Found | undefined;

export const stragglers: Study = {
  name: 'stragglers',
  title: `Stragglers: delays with heavy tails compared with the exponential delay, mean ${MEAN_SECONDS} s`,
  cells: cellsOf,
  needs: (profile) => needsOfCells(cellsOf(profile)),
  async run({ profile, results: found }) {
    const results = await found(cellsOf(profile));
    const tasks = GRIDS[profile].map(({ task }) => task);
    const at: Lookup = (task, delay, line) =>
      overSeeds(
        results,
        (cell) =>
          cell.task.dataset === task.dataset && cell.delay.kind === DELAYS[delay]?.kind && lineOf(cell) === line,
      );
    const everywhere = (left: LineName, right: LineName) =>
      tasks.flatMap((task) =>
        Object.keys(DELAYS).map((delay) =>
          pairOf(`${task.dataset}, ${delay}`, at(task, delay, left), at(task, delay, right)),
        ),
      );
    return {
      experiment: 'stragglers',
      title: this.title,
      profile,
      rows: results.map((result) => ({ ...rowOf('stragglers', result), delay: result.cell.delay.kind })),
      tables: tasks.map((task) => tableOf(task, results, at)),
      figures: [],
      orderings: [
        ordering(
          'no SA (FedBuff) takes at most 1.10 times as long with a heavy tail as with the exponential delay of the same mean',
          tasks.flatMap((task) =>
            TAILS.map((tail) =>
              pairOf(`${task.dataset}, ${tail}`, at(task, tail, 'no SA'), at(task, 'exponential', 'no SA')),
            ),
          ),
          1.1,
        ),
        ordering(`${OURS} takes at most 1.10 times as long as no SA under every delay`, everywhere(OURS, 'no SA'), 1.1),
        ordering(
          'one version a buffer takes at most 1.25 times as long as mixed versions under every delay',
          everywhere(`${OURS}, one version`, OURS),
          1.25,
        ),
        ordering(`${OURS} takes at most half as long as SecAgg under every delay`, everywhere(OURS, 'SecAgg'), 0.5),
        reachedClaim('every asynchronous run comes to its target', results),
      ],
      notes: [
        `The lognormal delay has sigma ${SIGMA}. The Pareto delay has shape ${SHAPE}, and its variance is infinite. The delay of a trip does not depend on its user.`,
        'Discarded updates arrived when too few devices were left for their version. Their devices train again on the newest version.',
        ...dataNotes(tasks),
      ],
    };
  },
};

function tableOf(task: ExperimentTask, results: readonly CellResult[], at: Lookup): Table {
  const columns = ['seconds', 's a version', 'age', 'discarded'];
  const discarded = (delay: string, line: LineName): string => {
    const here = results.filter(
      ({ cell }) =>
        cell.task.dataset === task.dataset && cell.delay.kind === DELAYS[delay]?.kind && lineOf(cell) === line,
    );
    const [lost, trips] = [here.reduce((sum, one) => sum + one.lost, 0), here.reduce((sum, one) => sum + one.trips, 0)];
    return trips === 0 ? '' : `${((100 * lost) / trips).toFixed(0)} %`;
  };
  const names = Object.keys(DELAYS);
  return {
    title: `${task.dataset} to ${100 * task.target} %, 32 users at a time, K = 10`,
    groups: [{ title: '', columns: 1 }, ...names.map((title) => ({ title, columns: columns.length }))],
    columns: ['', ...names.flatMap(() => columns)],
    rows: NAMES.map((line) => [
      line,
      ...names.flatMap((delay) => {
        const here = at(task, delay, line);
        return [
          shown(here),
          here?.secondsPerVersion.toFixed(2) ?? '',
          here?.meanAge.toFixed(1) ?? '',
          discarded(delay, line),
        ];
      }),
    ]),
  };
}
