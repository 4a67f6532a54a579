/** Our study: the time cost of several sums per version (H) in the one-shot mode. */
import { CELL, type Cell, type ExperimentTask, exponential, FEMNIST, MNIST, MNIST_SMOKE } from '@basa/virtual-time';
import { ordering } from '../report/outcome.ts';
import { needsOfCells, type Profile, type Study } from '../run/context.ts';
import { computeOf } from './computes.ts';
import { reachedClaim } from './lines.ts';
import { dataNotes, type Found, overSeeds, pairOf, rowOf, shown } from './protocol-cells.ts';

const BETA = 3;
const SUMS = [1, 2, 3, 4] as const;
const GRIDS: Readonly<Record<Profile, readonly { readonly task: ExperimentTask; readonly seeds: number }[]>> = {
  smoke: [{ task: MNIST_SMOKE, seeds: 1 }],
  small: [{ task: { ...MNIST, cap: { buffers: 300, rounds: 1 } }, seeds: 10 }],
  full: [
    { task: { ...MNIST, cap: { buffers: 300, rounds: 1 } }, seeds: 10 },
    { task: FEMNIST, seeds: 12 },
  ],
};

function cellsOf(profile: Profile): readonly Cell[] {
  return GRIDS[profile].flatMap(({ task, seeds }) =>
    SUMS.flatMap((sumsPerVersion) =>
      Array.from({ length: seeds }, (_, n): Cell => {
        const compute = computeOf('declared', task);
        const cell: Cell = { ...CELL, task, protocol: 'BASA one-shot', delay: exponential(BETA), compute, seed: n + 1 };
        return sumsPerVersion === 1 ? cell : { ...cell, sumsPerVersion };
      }),
    ),
  );
}

export const sums: Study = {
  name: 'sums',
  title: `Sums a version (H) in the one-shot mode, beta = ${BETA}`,
  cells: cellsOf,
  needs: (profile) => needsOfCells(cellsOf(profile)),
  async run({ profile, results: found }) {
    const results = await found(cellsOf(profile));
    const tasks = GRIDS[profile].map(({ task }) => task);
    const at = (task: ExperimentTask, count: number): Found | undefined =>
      overSeeds(results, (cell) => cell.task.dataset === task.dataset && (cell.sumsPerVersion ?? 1) === count);
    return {
      experiment: 'sums',
      title: this.title,
      profile,
      rows: results.map((result) => ({
        ...rowOf('sums', result),
        sumsPerVersion: result.cell.sumsPerVersion ?? 1,
      })),
      tables: [
        {
          title: 'Batches of K = 10, 32 users at a time',
          groups: [{ title: '', columns: 1 }, ...tasks.map(({ dataset }) => ({ title: dataset, columns: 5 }))],
          columns: ['H', ...tasks.flatMap(() => ['seconds', 'to H = 1', 'versions', 's a version', 'age'])],
          rows: SUMS.map((count) => [
            `${count}`,
            ...tasks.flatMap((task) => {
              const [here, one] = [at(task, count), at(task, 1)];
              return [
                shown(here),
                here && one ? (here.seconds / one.seconds).toFixed(2) : '',
                here?.versions.toFixed(1) ?? '',
                here?.secondsPerVersion.toFixed(2) ?? '',
                here?.meanAge.toFixed(1) ?? '',
              ];
            }),
          ]),
        },
      ],
      figures: [],
      orderings: [
        ordering(
          'two sums a version take at most 1.5 times as long to the target as one',
          tasks.map((task) => pairOf(task.dataset, at(task, 2), at(task, 1))),
          1.5,
        ),
        ordering(
          'four sums a version take at most 3 times as long to the target as one',
          tasks.map((task) => pairOf(task.dataset, at(task, 4), at(task, 1))),
          3,
        ),
        reachedClaim('with every H all runs come to the target', results),
      ],
      notes: [
        'A version is made as soon as H sums are opened, and each sum is weighted by its age at that time. The server rate is the same as for H = 1.',
        ...dataNotes(tasks),
      ],
    };
  },
};
