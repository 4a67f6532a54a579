/** Our study: `one-shot` mode compared with every other protocol, with 0 to 30 % of the users leaving before they upload. */
import { CELL, exponential } from '@basa/simulator/virtual-time';
import { needsOfCells, type Profile, type Study } from '../run/context.ts';
import { type Cell, freshSeeds, MNIST, MNIST_SMOKE } from '../tasks/tasks.ts';
import { lineFigure, lineOrderings, lineTable, meanOrdering, reachedClaim } from './lines.ts';
import { rowOf } from './protocol-cells.ts';
import { FIGURE_LINES, type Racer, race } from './racers.ts';
import { OURS } from './table1-claims.ts';

const SEVERAL = 'BASA one-shot (3 of 4)' satisfies Racer;
/** LightSecAgg with a buffer is left out: the paper does not say what it does when users leave. */
const PROTOCOLS: readonly Racer[] = [
  'no SA',
  'BASA paper',
  OURS,
  'BASA one-shot, 3 a version',
  'BASA one-shot, groups of 5',
  SEVERAL,
  'SecAgg',
  'SecAgg+, 24 of 32',
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
  const compute = { secondsAnExample: task.secondsAnExample };
  return SHARES[profile].flatMap((dropouts) =>
    PROTOCOLS.flatMap((protocol) =>
      freshSeeds(SEEDS[profile]).map((seed) =>
        race(protocol, { ...CELL, task, delay: exponential(BETA), compute, dropouts, seed }),
      ),
    ),
  );
}

export const oneShot: Study = {
  name: 'one-shot',
  title: 'One-shot compared: users that leave before they upload',
  cells: cellsOf,
  needs: (profile) => needsOfCells(cellsOf(profile)),
  async run({ profile, results: found }) {
    const results = await found(cellsOf(profile));
    const axis = { x: 'share of trips', of: ({ dropouts }: Cell) => dropouts };
    return {
      experiment: 'one-shot',
      title: this.title,
      profile,
      rows: results.map((result) => rowOf('one-shot', result)),
      tables: [lineTable('MNIST: seconds to the target', results, 'MNIST', PROTOCOLS, axis)],
      figures: [lineFigure('one-shot', `MNIST, beta = ${BETA}`, results, 'MNIST', FIGURE_LINES, axis)],
      orderings: [
        lineOrderings(
          `when users leave, ${OURS} is ahead of BASA paper, whose position waits for them`,
          results.filter(({ cell }) => cell.dropouts > 0),
          [OURS, 'BASA paper'],
          axis.of,
        ),
        lineOrderings(`${OURS} is ahead of SecAgg`, results, [OURS, 'SecAgg'], axis.of),
        meanOrdering(
          `three of four authorities take at most 1.10 times as long as one, in the mean over the shares`,
          results,
          [SEVERAL, OURS],
          axis.of,
          1.1,
        ),
        reachedClaim('every asynchronous run comes to its target', results),
      ],
      notes: [
        'In paper mode a user that leaves keeps its position for 1 s (declared). In one-shot mode the server never hears of it.',
        'A batch of one-shot mode has one version of the model. Buffers of no SA and of BASA paper mix versions.',
        'Rounds notice a drop-out immediately, which is an advantage that they would not have in practice. Devices are declared.',
      ],
    };
  },
};
