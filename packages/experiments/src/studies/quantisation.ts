/** Ours: levels of the quantiser, from too coarse to sums that wrap. */
import type { Cell } from '../cell.ts';
import { CELL, exponential } from '../cell.ts';
import type { Profile, Study } from '../context.ts';
import { needsOfCells } from '../context.ts';
import { allNeeds } from '../costs/needs.ts';
import { ordering } from '../outcome.ts';
import { MNIST, MNIST_SMOKE } from '../tasks.ts';
import { overSeeds, round, rowOf } from './protocol-cells.ts';

const BITS: Readonly<Record<Profile, readonly number[]>> = {
  smoke: [4, 16],
  small: [2, 4, 6, 8, 10, 13, 16, 20, 24, 28, 32, 34, 36],
  full: [2, 4, 6, 8, 10, 13, 16, 20, 24, 26, 28, 30, 32, 34, 36],
};
const SEEDS: Readonly<Record<Profile, number>> = { smoke: 1, small: 3, full: 5 };
const BUFFERS: Readonly<Record<Profile, number>> = { smoke: 6, small: 30, full: 40 };

/** All runs go on for the same number of versions: accuracies are compared, not times. */
function cellsOf(profile: Profile): readonly Cell[] {
  const base = profile === 'smoke' ? MNIST_SMOKE : MNIST;
  const task = { ...base, target: 2, cap: { buffers: BUFFERS[profile], rounds: 1 } };
  const seeds = Array.from({ length: SEEDS[profile] }, (_, n) => n + 1);
  return seeds.flatMap((seed): Cell[] => {
    const cell: Cell = {
      ...CELL,
      task,
      protocol: 'BASA sealed',
      delay: exponential(3),
      compute: 1,
      seed,
      level: Number.POSITIVE_INFINITY,
    };
    return [cell, ...BITS[profile].map((bits): Cell => ({ ...cell, level: 2 ** bits }))];
  });
}

export const quantisation: Study = {
  name: 'quantisation',
  title: 'Quantiser: levels against accuracy, and where sums wrap',
  needs: (profile) => allNeeds(needsOfCells(cellsOf(profile))),
  async run({ profile, train }) {
    const results = await train(cellsOf(profile));
    const plain = overSeeds(results, ({ level }) => level === Number.POSITIVE_INFINITY);
    const at = (bits: number) => overSeeds(results, ({ level }) => level === 2 ** bits);
    return {
      experiment: 'quantisation',
      title: this.title,
      profile,
      rows: results.map((result) => ({ ...rowOf('quantisation', result), level: String(result.cell.level) })),
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
        ordering('at level 2^16 no more than half a point is lost', [
          ['2^16', (plain?.accuracy ?? 1) - 0.005, at(16)?.accuracy],
        ]),
      ],
      notes: [
        'The same event order for every level. The real parties are left out here: above 2^20 a policy of BASA refuses such a level, because the sum could wrap.',
      ],
    };
  },
};

function percent(share: number | undefined): string {
  return share === undefined ? '' : `${(100 * share).toFixed(2)} %`;
}
