/** Figure 4: more concurrent users, beta = 5. */
import { CELL, exponential, isSynchronous } from '@basa/simulator/virtual-time';
import { ofPaper } from '../report/outcome.ts';
import { needsOfCells, type Profile, type Study } from '../run/context.ts';
import { type Cell, FEMNIST, FIRST_SEED, freshSeeds, MNIST, MNIST_SMOKE, titleOf } from '../tasks/tasks.ts';
import { lineFigure, lineOrderings, lineTable, meanOrdering, reachedClaim } from './lines.ts';
import { dataNotes, rowOf } from './protocol-cells.ts';
import { type Racer, race } from './racers.ts';
import { OURS } from './table1-claims.ts';

const BETA = 5;
const PROTOCOLS: readonly Racer[] = ['no SA', 'BASA paper', OURS, 'BASA one-shot, 3 a version', 'SecAgg'];
const TASK = {
  smoke: MNIST_SMOKE,
  small: MNIST,
  full: FEMNIST,
};
const CONCURRENCIES: Readonly<Record<Profile, readonly number[]>> = {
  smoke: [20, 60],
  small: [50, 100, 200, 400, 800],
  full: [50, 100, 200, 400, 800],
};
/** Measuring the keys and shares of a round of 800 users takes half an hour. */
const MAX_IN_A_ROUND: Readonly<Record<Profile, number>> = { smoke: 60, small: 400, full: 400 };
const SEEDS: Readonly<Record<Profile, number>> = { smoke: 1, small: 5, full: 8 };
/** Rounds are far behind at every concurrency, so few seeds show it. */
const ROUND_SEEDS: Readonly<Record<Profile, number>> = { smoke: 1, small: 1, full: 5 };

function isRoundRun(profile: Profile, { concurrency, seed }: Cell): boolean {
  return concurrency <= MAX_IN_A_ROUND[profile] && seed < FIRST_SEED + ROUND_SEEDS[profile];
}

function cellsOf(profile: Profile): readonly Cell[] {
  const task = TASK[profile];
  const compute = { secondsAnExample: task.secondsAnExample };
  return freshSeeds(SEEDS[profile]).flatMap((seed) =>
    CONCURRENCIES[profile].flatMap((concurrency) =>
      PROTOCOLS.map((protocol) =>
        race(protocol, { ...CELL, task, delay: exponential(BETA), concurrency, compute, seed }),
      ).filter((cell) => !isSynchronous(cell) || isRoundRun(profile, cell)),
    ),
  );
}

export const concurrency: Study = {
  name: 'concurrency',
  title: `Figure 4: time to the target accuracy by the number of users at a time, beta = ${BETA}`,
  cells: cellsOf,
  needs: (profile) => needsOfCells(cellsOf(profile)),
  async run({ profile, results: found }) {
    const results = await found(cellsOf(profile));
    const axis = { x: 'users at a time', of: ({ concurrency: users }: Cell) => users };
    const { dataset, target } = TASK[profile];
    const title = `${titleOf(TASK[profile])}: seconds to ${100 * target} %`;
    return {
      experiment: 'concurrency',
      title: this.title,
      profile,
      rows: results.map((result) => rowOf('concurrency', result)),
      tables: [lineTable(title, results, dataset, PROTOCOLS, axis)],
      figures: [
        lineFigure('concurrency', `${titleOf(TASK[profile])}, beta = ${BETA}`, results, dataset, PROTOCOLS, axis),
      ],
      orderings: [
        lineOrderings(`${OURS} is ahead of SecAgg at every concurrency`, results, [OURS, 'SecAgg'], axis.of),
        ofPaper(
          'Appendix C, Figure 4: "consistently more efficient than secure aggregation in SFL with SecAgg"',
          lineOrderings(
            'BASA paper is ahead of SecAgg at every concurrency',
            results,
            ['BASA paper', 'SecAgg'],
            axis.of,
          ),
        ),
        meanOrdering(
          `${OURS} takes at most 1.6 times as long as no SA, in the mean over the numbers of users`,
          results,
          [OURS, 'no SA'],
          axis.of,
          1.6,
        ),
        reachedClaim('no run collapses: all come to the target', results),
      ],
      notes: [
        'Devices are declared: training takes about one second for an average user, in proportion to its examples.',
        ...dataNotes([TASK[profile]]),
        'The server limits the number of users that train (four times K): beyond about 40 users, more users ask but no more users train.',
        'The paper does not say which numbers of users its figure shows.',
      ],
    };
  },
};
