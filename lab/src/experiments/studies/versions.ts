/** Our study: the cost of one model version per buffer, compared with buffers that mix versions as in the paper. */
import type { Versions } from '@basa/protocol';
import { CELL, type Cell, type ExperimentTask, exponential, FEMNIST, MNIST, MNIST_SMOKE } from '@basa/virtual-time';
import { ordering, type Table } from '../report/outcome.ts';
import { needsOfCells, type Profile, type Study } from '../run/context.ts';
import type { CellResult } from '../run/grid.ts';
import { computeOf } from './computes.ts';
import { reachedClaim } from './lines.ts';
import { betaOf, dataNotes, type Found, overSeeds, pairOf, rowOf, shown } from './protocol-cells.ts';
import { OURS } from './table1-claims.ts';

interface GridRow {
  readonly task: ExperimentTask;
  readonly seeds: number;
}

const GRIDS: Readonly<Record<Profile, readonly GridRow[]>> = {
  smoke: [{ task: MNIST_SMOKE, seeds: 1 }],
  small: [{ task: { ...MNIST, cap: { buffers: 300, rounds: 1 } }, seeds: 10 }],
  full: [
    { task: { ...MNIST, cap: { buffers: 300, rounds: 1 } }, seeds: 10 },
    { task: FEMNIST, seeds: 5 },
  ],
};
const BETAS = [0, 3, 6] as const;
const VARIANTS: readonly Versions[] = ['unsafeMixed', 'one'];
const TITLES: Readonly<Record<Versions, string>> = { unsafeMixed: 'versions mixed', one: 'one version a buffer' };

function cellsOf(profile: Profile): readonly Cell[] {
  return GRIDS[profile].flatMap(({ task, seeds }) =>
    BETAS.flatMap((beta) =>
      VARIANTS.flatMap((versions) =>
        Array.from({ length: seeds }, (_, n): Cell => {
          const compute = computeOf('declared', task);
          return { ...CELL, task, protocol: OURS, delay: exponential(beta), compute, versions, seed: n + 1 };
        }),
      ),
    ),
  );
}

export const versions: Study = {
  name: 'versions',
  title: 'Cost of one model version per buffer',
  cells: cellsOf,
  needs: (profile) => needsOfCells(cellsOf(profile)),
  async run({ profile, results: found }) {
    const results = await found(cellsOf(profile));
    const tasks = GRIDS[profile].map(({ task }) => task);
    const at = (task: ExperimentTask, beta: number, which: Versions): Found | undefined =>
      overSeeds(
        results,
        (cell) => cell.task.dataset === task.dataset && betaOf(cell) === beta && cell.versions === which,
      );
    return {
      experiment: 'versions',
      title: this.title,
      profile,
      rows: results.map((result) => rowOf('versions', result)),
      tables: tasks.map((task) => tableOf(task, results, at)),
      figures: [],
      orderings: [
        ordering(
          'one version a buffer takes at most 1.25 times as long to the target as mixed versions',
          tasks.flatMap((task) =>
            BETAS.map((beta) =>
              pairOf(`${task.dataset}, beta ${beta}`, at(task, beta, 'one'), at(task, beta, 'unsafeMixed')),
            ),
          ),
          1.25,
        ),
        reachedClaim(
          'with one version a buffer every run comes to the target',
          results.filter(({ cell }) => cell.versions === 'one'),
        ),
      ],
      notes: [
        'Times are virtual seconds, as mean ± standard deviation over seeds, until the mean of three evaluations has the target accuracy. Both variants have the same step and the same places. The step is damped by the age of a sum, exponent 1/2.',
        'Discarded updates arrived when too few devices were left for their version. Their devices train again on the newest version. Nothing of a discarded update has left its device.',
        ...dataNotes(tasks),
      ],
    };
  },
};

function tableOf(
  task: ExperimentTask,
  results: readonly CellResult[],
  at: (task: ExperimentTask, beta: number, which: Versions) => Found | undefined,
): Table {
  const discarded = (beta: number, which: Versions): string => {
    const here = results.filter(
      ({ cell }) => cell.task.dataset === task.dataset && betaOf(cell) === beta && cell.versions === which,
    );
    const [lost, trips] = [here, here].map((all, n) =>
      all.reduce((sum, one) => sum + (n === 0 ? one.lost : one.trips), 0),
    );
    return trips ? `${((100 * (lost ?? 0)) / trips).toFixed(0)} %` : '';
  };
  const columns = ['seconds', 'to mixed', 's a version', 'age', 'discarded'];
  return {
    title: `${task.dataset} to ${100 * task.target} %, 32 users at a time, K = 10, Kmin = 8`,
    groups: [{ title: '', columns: 1 }, ...BETAS.map((beta) => ({ title: `beta ${beta}`, columns: columns.length }))],
    columns: ['', ...BETAS.flatMap(() => columns)],
    rows: VARIANTS.map((which) => [
      TITLES[which],
      ...BETAS.flatMap((beta) => {
        const [here, mixed] = [at(task, beta, which), at(task, beta, 'unsafeMixed')];
        return [
          shown(here),
          here && mixed ? (here.seconds / mixed.seconds).toFixed(2) : '',
          here?.secondsPerVersion.toFixed(2) ?? '',
          here?.meanAge.toFixed(1) ?? '',
          discarded(beta, which),
        ];
      }),
    ]),
  };
}
