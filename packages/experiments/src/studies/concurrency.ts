/** Figure 4: more users at a time, beta = 5. */
import type { Cell, ProtocolName } from '../cell.ts';
import { CELL, exponential, isSynchronous } from '../cell.ts';
import type { Profile, Study } from '../context.ts';
import { needsOfCells, timeOnly } from '../context.ts';
import type { Costs } from '../costs/costs.ts';
import { allNeeds } from '../costs/needs.ts';
import type { Table } from '../outcome.ts';
import { FEMNIST, FEMNIST_SMALL, MNIST_SMOKE } from '../tasks.ts';
import { lineFigure, lineOrderings, lineTable } from './lines.ts';
import { forMany, noteOf, shortened } from './many-at-a-time.ts';
import { rowOf } from './protocol-cells.ts';

const BETA = 5;
const PROTOCOLS: readonly ProtocolName[] = ['no SA', 'BASA paper', 'BASA sealed', 'SecAgg'];
const TASK = { smoke: MNIST_SMOKE, small: shortened(FEMNIST_SMALL, 0.6), full: FEMNIST };
const CONCURRENCIES: Readonly<Record<Profile, readonly number[]>> = {
  smoke: [20, 60],
  small: [50, 100, 200, 400, 800],
  full: [50, 100, 200, 400, 800],
};
/** A round of 800 takes half an hour to measure, and as long to train. */
const MOST_IN_A_ROUND: Readonly<Record<Profile, number>> = { smoke: 60, small: 400, full: 800 };
/** Threads that open sums, for a look at what piles up. */
const OPENERS = [1, 2, 4] as const;

function cellsOf(profile: Profile): readonly Cell[] {
  const task = TASK[profile];
  return CONCURRENCIES[profile].flatMap((concurrency) =>
    PROTOCOLS.map(
      (protocol): Cell => ({
        ...CELL,
        task: forMany(task, concurrency, profile),
        protocol,
        delay: exponential(BETA),
        concurrency,
        compute: 1,
      }),
    ).filter((cell) => !isSynchronous(cell) || concurrency <= MOST_IN_A_ROUND[profile]),
  );
}

/** Timing alone: how long a version takes and how old its updates are, by the threads that open sums. */
function openersTable(profile: Profile, costs: Costs): Table {
  const cells = cellsOf(profile).filter(({ protocol }) => protocol === 'BASA sealed');
  return {
    title: 'BASA sealed by the threads that open sums, timing alone',
    columns: [
      'users at a time',
      ...OPENERS.flatMap((openers) => [`${openers === 1 ? 'one' : openers}: s a version`, 'age of updates']),
    ],
    rows: cells.map((cell) => [
      `${cell.concurrency}`,
      ...OPENERS.flatMap((openers) => {
        const { times, meanAge } = timeOnly({ ...cell, openers }, costs);
        return [((times.at(-1) ?? 0) / times.length).toFixed(3), meanAge.toFixed(1)];
      }),
    ]),
  };
}

export const concurrency: Study = {
  name: 'concurrency',
  title: `Figure 4: time to the target accuracy by the number of users at a time, beta = ${BETA}`,
  needs: (profile) => allNeeds(needsOfCells(cellsOf(profile))),
  async run({ profile, costs, train }) {
    const results = await train(cellsOf(profile));
    const axis = { x: 'users at a time', of: ({ concurrency: users }: Cell) => users };
    const { dataset, isHybrid, target } = TASK[profile];
    return {
      experiment: 'concurrency',
      title: this.title,
      profile,
      rows: results.map((result) => rowOf('concurrency', result)),
      tables: [
        lineTable(
          `${dataset}${isHybrid ? ' (hybrid)' : ''}: seconds to ${100 * target} %`,
          results,
          dataset,
          PROTOCOLS,
          axis,
        ),
        openersTable(profile, costs),
      ],
      figures: [lineFigure('concurrency', `${dataset}, beta = ${BETA}`, results, dataset, PROTOCOLS, axis)],
      orderings: [
        lineOrderings(
          'BASA sealed is ahead of SecAgg at every concurrency',
          results,
          ['BASA sealed', 'SecAgg'],
          axis.of,
        ),
        lineOrderings(
          'BASA paper is ahead of SecAgg at every concurrency, as in the paper',
          results,
          ['BASA paper', 'SecAgg'],
          axis.of,
        ),
        lineOrderings(
          'BASA sealed takes at most 1.05 times as long as no SA',
          results,
          ['BASA sealed', 'no SA'],
          axis.of,
          1.05,
        ),
      ],
      notes: [
        'Training is declared at 1 s a trip; one seed. Steps at 200 users at a time are given; they are inverse to the users, and 1 at most.',
        noteOf(TASK[profile], forMany(TASK[profile], 200, profile)),
        'Age: versions between the one an update was trained on and the one before its own. Where closed buffers wait to be opened it grows as long as the run goes on.',
        'The paper does not say which concurrencies it drew.',
      ],
    };
  },
};
