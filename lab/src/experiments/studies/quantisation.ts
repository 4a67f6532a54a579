/** Our study: levels of the quantiser, from too coarse to sums that wrap, and the default ring of new tasks compared with floats. */
import { elementBits, planQuantizer } from '@basa/masking';
import { CELL, type Cell, type ExperimentTask, exponential, FEMNIST, MNIST, MNIST_SMOKE } from '@basa/virtual-time';
import { ordering, type Table } from '../report/outcome.ts';
import { needsOfCells, type Profile, type Study } from '../run/context.ts';
import type { CellResult } from '../run/grid.ts';
import { computeOf } from './computes.ts';
import { overSeeds, pairOf, round, rowOf } from './protocol-cells.ts';
import { OURS } from './table1-claims.ts';

const BITS: Readonly<Record<Profile, readonly number[]>> = {
  smoke: [4, 16],
  small: [2, 4, 6, 8, 10, 13, 16, 20, 24, 28, 32, 34, 36],
  full: [2, 4, 6, 8, 10, 13, 16, 20, 24, 26, 28, 30, 32, 34, 36],
};
const SEEDS: Readonly<Record<Profile, number>> = { smoke: 1, small: 3, full: 5 };
const BUFFERS: Readonly<Record<Profile, number>> = { smoke: 6, small: 30, full: 40 };

/** All runs make the same number of versions, because accuracies are compared and not times. */
function cellsOf(profile: Profile): readonly Cell[] {
  const base = profile === 'smoke' ? MNIST_SMOKE : MNIST;
  const task = { ...base, target: 2, cap: { buffers: BUFFERS[profile], rounds: 1 } };
  const seeds = Array.from({ length: SEEDS[profile] }, (_, n) => n + 1);
  return seeds.flatMap((seed): Cell[] => {
    const cell: Cell = {
      ...CELL,
      task,
      protocol: OURS,
      delay: exponential(3),
      compute: computeOf('declared', task),
      seed,
      level: Number.POSITIVE_INFINITY,
    };
    return [cell, ...BITS[profile].map((bits): Cell => ({ ...cell, level: 2 ** bits }))];
  });
}

/** The default of a task: the narrowest ring in which the sum of 10 entries, with 32,768 steps up to the clip, cannot wrap. */
function defaultQuantiser(): Pick<Cell, 'level' | 'ringBits'> {
  const request = { summands: CELL.bufferSize, clip: 1, resolution: { level: 2 ** 15 }, modulus: 'auto' } as const;
  const planned = planQuantizer(request);
  if (planned.kind === 'refused') throw new Error(planned.sentence);
  const { level, modulus } = planned.plan;
  return { level, ringBits: elementBits(modulus) };
}

const RING_BUFFERS: Readonly<Record<Profile, Readonly<Record<'MNIST' | 'FEMNIST', number>>>> = {
  smoke: { MNIST: 6, FEMNIST: 0 },
  small: { MNIST: 30, FEMNIST: 0 },
  full: { MNIST: 40, FEMNIST: 100 },
};

/** Floats and the default ring, in the same order of events. */
function ringCells(profile: Profile): readonly Cell[] {
  const tasks: readonly ExperimentTask[] = { smoke: [MNIST_SMOKE], small: [MNIST], full: [MNIST, FEMNIST] }[profile];
  const seeds = Array.from({ length: SEEDS[profile] }, (_, n) => n + 1);
  return tasks.flatMap((task) =>
    seeds.flatMap((seed): Cell[] => {
      const buffers = RING_BUFFERS[profile][task.dataset as 'MNIST' | 'FEMNIST'];
      const cell: Cell = {
        ...CELL,
        task: { ...task, target: 2, cap: { buffers, rounds: 1 } },
        protocol: OURS,
        delay: exponential(3),
        compute: computeOf('declared', task),
        seed,
        level: Number.POSITIVE_INFINITY,
      };
      return [cell, { ...cell, ...defaultQuantiser() }];
    }),
  );
}

function ringTable(profile: Profile, results: readonly CellResult[]): Table {
  const { level, ringBits } = defaultQuantiser();
  const pairs = results.filter(({ cell }) => cell.ringBits !== undefined);
  return {
    title: `The ring of new tasks at K = ${CELL.bufferSize} (${ringBits} bits, clip 1, level ${level}), compared with floats in the same order`,
    columns: ['dataset', 'versions', 'seed', 'floats', `${ringBits} bits`, 'difference', 'entries clipped'],
    rows: pairs.map(({ cell, trained }) => {
      const isTwin = (other: Cell): boolean =>
        other.task.dataset === cell.task.dataset &&
        other.seed === cell.seed &&
        other.level === Number.POSITIVE_INFINITY;
      const floats = results.find((result) => isTwin(result.cell))?.trained.wholeAccuracy;
      const difference = trained.wholeAccuracy - (floats ?? Number.NaN);
      return [
        cell.task.dataset,
        String(RING_BUFFERS[profile][cell.task.dataset as 'MNIST' | 'FEMNIST']),
        String(cell.seed),
        percent(floats),
        percent(trained.wholeAccuracy),
        `${(100 * difference).toFixed(2)} points`,
        String(trained.clipped),
      ];
    }),
  };
}

export const quantisation: Study = {
  name: 'quantisation',
  title: 'Quantiser: levels against accuracy, and where sums wrap',
  cells: (profile) => [...cellsOf(profile), ...ringCells(profile)],
  needs: (profile) => needsOfCells([...cellsOf(profile), ...ringCells(profile)]),
  async run({ profile, results: found }) {
    const [results, rings] = [await found(cellsOf(profile)), await found(ringCells(profile))];
    const plain = overSeeds(results, ({ level }) => level === Number.POSITIVE_INFINITY);
    const at = (bits: number) => overSeeds(results, ({ level }) => level === 2 ** bits);
    return {
      experiment: 'quantisation',
      title: this.title,
      profile,
      rows: [...results, ...rings].map((result) => ({
        ...rowOf('quantisation', result),
        level: String(result.cell.level),
        ringBits: String(result.cell.ringBits ?? ''),
      })),
      tables: [
        {
          title: `MNIST after ${BUFFERS[profile]} versions`,
          columns: ['level', 'accuracy on the whole test set', 'difference to no quantiser'],
          rows: [
            ['floats', percent(plain?.accuracy), ''],
            ...BITS[profile].map((bits) => {
              const accuracy = at(bits)?.accuracy;
              const difference = (accuracy ?? Number.NaN) - (plain?.accuracy ?? Number.NaN);
              return [`2^${bits}`, percent(accuracy), `${(100 * difference).toFixed(2)} points`];
            }),
          ],
        },
        ringTable(profile, rings),
      ],
      figures: [
        {
          name: 'quantisation',
          title: 'MNIST: accuracy by level, K = 10, field 2^32 - 5',
          x: 'log2 of the level',
          y: 'accuracy',
          series: [
            { name: 'quantised', points: BITS[profile].map((bits) => [bits, round(at(bits)?.accuracy ?? 0)] as const) },
            { name: 'floats', points: BITS[profile].map((bits) => [bits, round(plain?.accuracy ?? 0)] as const) },
          ],
        },
      ],
      orderings: [
        ordering(
          'at level 2^16 no more than a hundredth of the accuracy is lost',
          [pairOf('2^16', plain, at(16), ({ accuracy }) => accuracy)],
          1.01,
        ),
      ],
      notes: [
        'Every level has the same order of events. The real parties are left out, because a BASA policy does not allow levels above 2^20: the sum could wrap.',
      ],
    };
  },
};

function percent(share: number | undefined): string {
  return share === undefined ? '' : `${(100 * share).toFixed(2)} %`;
}
