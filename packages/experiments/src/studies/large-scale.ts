/** Figure 2: 200 users at a time, delays from 1 to 6 seconds, both CNN tasks. */
import type { Cell, ProtocolName } from '../cell.ts';
import { CELL, exponential } from '../cell.ts';
import type { Profile, Study } from '../context.ts';
import { needsOfCells } from '../context.ts';
import { allNeeds } from '../costs/needs.ts';
import type { ExperimentTask } from '../tasks.ts';
import { CIFAR_FLSIM, FEMNIST, FEMNIST_SMALL, MNIST_SMOKE } from '../tasks.ts';
import { lineFigure, lineOrderings, lineTable } from './lines.ts';
import { forMany, noteOf, shortened } from './many-at-a-time.ts';
import { betaOf, rowOf } from './protocol-cells.ts';

const PROTOCOLS: readonly ProtocolName[] = ['no SA', 'BASA paper', 'BASA sealed', 'SecAgg', 'SecAgg+'];

interface Row {
  readonly task: ExperimentTask;
  readonly betas: readonly number[];
}

const BETAS = [1, 2, 3, 4, 5, 6];
const TASKS: Readonly<Record<Profile, readonly Row[]>> = {
  smoke: [{ task: MNIST_SMOKE, betas: [1, 6] }],
  small: [
    { task: shortened(CIFAR_FLSIM, 0.4), betas: [1, 3, 6] },
    { task: shortened(FEMNIST_SMALL, 0.6), betas: BETAS },
  ],
  full: [CIFAR_FLSIM, FEMNIST].map((task) => ({ task, betas: BETAS })),
};
const SEEDS: Readonly<Record<Profile, number>> = { smoke: 1, small: 1, full: 3 };
const CONCURRENCY: Readonly<Record<Profile, number>> = { smoke: 50, small: 200, full: 200 };

function cellsOf(profile: Profile): readonly Cell[] {
  return TASKS[profile].flatMap(({ task, betas }) =>
    betas.flatMap((beta) =>
      PROTOCOLS.flatMap((protocol) =>
        Array.from(
          { length: SEEDS[profile] },
          (_, n): Cell => ({
            ...CELL,
            task: forMany(task, CONCURRENCY[profile], profile),
            protocol,
            delay: exponential(beta),
            concurrency: CONCURRENCY[profile],
            compute: 1,
            seed: n + 1,
          }),
        ),
      ),
    ),
  );
}

export const largeScale: Study = {
  name: 'large-scale',
  title: 'Figure 2: time to the target accuracy with 200 users at a time',
  needs: (profile) => allNeeds(needsOfCells(cellsOf(profile))),
  async run({ profile, train }) {
    const results = await train(cellsOf(profile));
    const axis = { x: 'beta, s', of: betaOf };
    const tasks = TASKS[profile].map(({ task }) => task);
    return {
      experiment: 'large-scale',
      title: this.title,
      profile,
      rows: results.map((result) => rowOf('large-scale', result)),
      tables: tasks.map(({ dataset, isHybrid, target }) =>
        lineTable(
          `${dataset}${isHybrid ? ' (hybrid)' : ''}: seconds to ${100 * target} %`,
          results,
          dataset,
          PROTOCOLS,
          axis,
        ),
      ),
      figures: tasks.map(({ dataset }) =>
        lineFigure(
          `large-scale-${dataset}`,
          `${dataset}, ${CONCURRENCY[profile]} users at a time`,
          results,
          dataset,
          PROTOCOLS,
          axis,
        ),
      ),
      orderings: [
        lineOrderings('BASA sealed is ahead of SecAgg at every beta', results, ['BASA sealed', 'SecAgg'], axis.of),
        lineOrderings(
          'BASA paper is ahead of SecAgg at every beta, as in the paper',
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
        ...tasks.map((task) => noteOf(task, forMany(task, CONCURRENCY[profile], profile))),
        'The paper gives no numbers for this figure. Its simulator may not have served one user at a time: "BASA sealed" shows what that costs.',
      ],
    };
  },
};
