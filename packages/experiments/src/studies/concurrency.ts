/** Figure 4: more users at a time, beta = 5. */
import type { Cell, ProtocolName } from '../cell.ts';
import { CELL, exponential } from '../cell.ts';
import type { Profile, Study } from '../context.ts';
import { needsOfCells } from '../context.ts';
import { allNeeds } from '../costs/needs.ts';
import { FEMNIST, FEMNIST_SMALL, MNIST_SMOKE } from '../tasks.ts';
import { lineFigure, lineOrderings, lineTable } from './lines.ts';
import { forMany, noteOf, OPENERS, STRIDE, shortened } from './many-at-a-time.ts';
import { rowOf } from './protocol-cells.ts';

const BETA = 5;
const PROTOCOLS: readonly ProtocolName[] = ['no SA', 'BASA paper', 'BASA sealed', 'SecAgg'];
const TASK = { smoke: MNIST_SMOKE, small: shortened(FEMNIST_SMALL, 0.4, 600), full: FEMNIST };
const CONCURRENCIES: Readonly<Record<Profile, readonly number[]>> = {
  smoke: [20, 60],
  small: [50, 100, 200, 400],
  full: [50, 100, 200, 400, 800],
};
function cellsOf(profile: Profile): readonly Cell[] {
  const task = TASK[profile];
  return CONCURRENCIES[profile].flatMap((concurrency) =>
    PROTOCOLS.map(
      (protocol): Cell => ({
        ...CELL,
        task: forMany(task, concurrency, STRIDE),
        openers: OPENERS,
        protocol,
        delay: exponential(BETA),
        concurrency,
        compute: 1,
      }),
    ),
  );
}

export const concurrency: Study = {
  name: 'concurrency',
  title: `Figure 4: time to the target accuracy by the number of users at a time, beta = ${BETA}`,
  needs: (profile) => allNeeds(needsOfCells(cellsOf(profile))),
  async run({ profile, train }) {
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
        'Training is declared at 1 s a trip; one seed.',
        `${noteOf(TASK[profile])} A buffer steps by ${STRIDE} over users at a time and examples, at most by 1; sums of sealed mode are opened by ${OPENERS} threads.`,
        'The paper does not say which concurrencies it drew.',
      ],
    };
  },
};
