/** Our study: 0 to 30 % of the users leave after they got their key. */
import { CELL, type Cell, exponential, MNIST, MNIST_SMOKE, type ProtocolName } from '@basa/virtual-time';
import { needsOfCells, type Profile, type Study } from '../run/context.ts';
import { computeOf } from './computes.ts';
import { lineFigure, lineOrderings, lineTable } from './lines.ts';
import { rowOf } from './protocol-cells.ts';
import { OURS } from './table1-claims.ts';

const PROTOCOLS: readonly ProtocolName[] = [
  'no SA',
  'BASA paper',
  'BASA sealed (slot keys)',
  'SecAgg',
  'SecAgg+',
  'LSA sync',
];
const BETA = 3;
const SHARES: Readonly<Record<Profile, readonly number[]>> = {
  smoke: [0, 0.3],
  small: [0, 0.1, 0.2, 0.3],
  full: [0, 0.05, 0.1, 0.2, 0.3],
};
const SEEDS: Readonly<Record<Profile, number>> = { smoke: 1, small: 8, full: 10 };

function cellsOf(profile: Profile): readonly Cell[] {
  const task = profile === 'smoke' ? MNIST_SMOKE : MNIST;
  return SHARES[profile].flatMap((dropouts) =>
    PROTOCOLS.flatMap((protocol) =>
      Array.from({ length: SEEDS[profile] }, (_, n): Cell => {
        return {
          ...CELL,
          task,
          protocol,
          delay: exponential(BETA),
          compute: computeOf('declared', task),
          dropouts,
          seed: n + 1,
        };
      }),
    ),
  );
}

export const dropouts: Study = {
  name: 'dropouts',
  title: 'Drop-outs: users that leave before they upload',
  cells: cellsOf,
  needs: (profile) => needsOfCells(cellsOf(profile)),
  async run({ profile, results: found }) {
    const results = await found(cellsOf(profile));
    const axis = { x: 'share of trips', of: ({ dropouts: share }: Cell) => share };
    return {
      experiment: 'dropouts',
      title: this.title,
      profile,
      rows: results.map((result) => rowOf('dropouts', result)),
      tables: [lineTable('MNIST: seconds to the target', results, 'MNIST', PROTOCOLS, axis)],
      figures: [lineFigure('dropouts', `MNIST, beta = ${BETA}`, results, 'MNIST', PROTOCOLS, axis)],
      orderings: [
        lineOrderings(
          `when users leave, ${OURS} is ahead of BASA paper, whose position waits for them`,
          results.filter(({ cell }) => (cell.dropouts ?? 0) > 0),
          [OURS, 'BASA paper'],
          axis.of,
        ),
        lineOrderings(`${OURS} is ahead of SecAgg`, results, [OURS, 'SecAgg'], axis.of),
      ],
      notes: [
        'A user that leaves keeps its place for 1 s (declared) in both modes of BASA. In sealed mode the other users continue during that time, and the buffer closes with the updates that arrived.',
        'Rounds notice a drop-out immediately, which is an advantage that they would not have in practice. Devices are declared.',
      ],
    };
  },
};
