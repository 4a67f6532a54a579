/** Figure 2: 200 concurrent users, delays from 1 to 6 seconds, both CNN tasks. */
import { CELL, exponential, isSynchronous } from '@basa/simulator/virtual-time';
import { ofPaper } from '../report/outcome.ts';
import { needsOfCells, type Profile, type Study } from '../run/context.ts';
import {
  type Cell,
  CIFAR_FLSIM,
  type ExperimentTask,
  FEMNIST,
  FIRST_SEED,
  freshSeeds,
  MNIST,
  MNIST_SMOKE,
  titleOf,
} from '../tasks/tasks.ts';
import { fasterWithLess, lineFigure, lineOrderings, lineTable, meanOrdering, reachedClaim } from './lines.ts';
import { betaOf, dataNotes, rowOf } from './protocol-cells.ts';
import { RACERS, type Racer, race } from './racers.ts';
import { OURS } from './table1-claims.ts';

const PROTOCOLS: readonly Racer[] = ['no SA', 'BASA paper', OURS, 'BASA one-shot, 3 a version', 'SecAgg'];
/** Protocols at the constant rate of the paper's appendix. Their results are close to each other, so they get the most seeds. */
const AT_A_RATE: readonly Racer[] = ['no SA', OURS];
/** More than the rate at which 200 users would connect if each took 7 s. */
const CONNECTIONS_A_SECOND = 40;

interface Row {
  readonly task: ExperimentTask;
  readonly betas: readonly number[];
  readonly seeds: number;
}

const BETAS = [1, 2, 3, 4, 5, 6];
const TASKS: Readonly<Record<Profile, readonly Row[]>> = {
  smoke: [{ task: MNIST_SMOKE, betas: [1, 6], seeds: 1 }],
  small: [{ task: MNIST, betas: BETAS, seeds: 5 }],
  full: [FEMNIST, CIFAR_FLSIM].map((task) => ({ task, betas: BETAS, seeds: 8 })),
};
const CONCURRENCY: Readonly<Record<Profile, number>> = { smoke: 50, small: 200, full: 200 };

/** Few seeds are enough to show that rounds are much slower. Protocols close to "no SA" get the most seeds. */
function seedsOf(protocol: Racer, seeds: number, profile: Profile): number {
  if (AT_A_RATE.includes(protocol)) return seeds;
  if (profile === 'full') return Math.min(seeds, 5);
  return Math.min(seeds, isSynchronous(RACERS[protocol]) ? 1 : 2);
}

function cellsOf(profile: Profile): readonly Cell[] {
  const concurrency = CONCURRENCY[profile];
  return TASKS[profile].flatMap(({ task, betas, seeds }) =>
    freshSeeds(seeds).flatMap((seed) =>
      betas.flatMap((beta): Cell[] => {
        const cell = {
          ...CELL,
          task,
          delay: exponential(beta),
          concurrency,
          compute: { secondsAnExample: task.secondsAnExample },
          seed,
        };
        return [
          ...PROTOCOLS.filter((protocol) => seed < FIRST_SEED + seedsOf(protocol, seeds, profile)).map((protocol) =>
            race(protocol, cell),
          ),
          ...AT_A_RATE.map(
            (protocol): Cell => ({
              ...race(protocol, cell),
              arrivals: { kind: 'constant', perSecond: CONNECTIONS_A_SECOND },
            }),
          ),
        ];
      }),
    ),
  );
}

export const largeScale: Study = {
  name: 'large-scale',
  title: 'Figure 2: time to the target accuracy with 200 users at a time',
  cells: cellsOf,
  needs: (profile) => needsOfCells(cellsOf(profile)),
  async run({ profile, results: found }) {
    const results = await found(cellsOf(profile));
    const closed = results.filter(({ cell }) => cell.arrivals.kind === 'closed');
    const atRate = results.filter(({ cell }) => cell.arrivals.kind === 'constant');
    const axis = { x: 'beta, s', of: betaOf };
    const tasks = TASKS[profile]
      .map(({ task }) => task)
      .filter(({ dataset }) => results.some(({ cell }) => cell.task.dataset === dataset));
    return {
      experiment: 'large-scale',
      title: this.title,
      profile,
      rows: results.map((result) => rowOf('large-scale', result)),
      tables: tasks.flatMap((task) => {
        const { dataset, target } = task;
        const title = `${titleOf(task)}: seconds to ${100 * target} %`;
        return [
          lineTable(title, closed, dataset, PROTOCOLS, axis),
          lineTable(`${title}, ${CONNECTIONS_A_SECOND} users connect a second`, atRate, dataset, AT_A_RATE, axis),
        ];
      }),
      figures: tasks.map(({ dataset, ...task }) =>
        lineFigure(
          `large-scale-${dataset}`,
          `${titleOf({ dataset, ...task })}, ${CONCURRENCY[profile]} users at a time`,
          closed,
          dataset,
          PROTOCOLS,
          axis,
        ),
      ),
      // Claims about a task that was not trained stay in the list as "not decided".
      orderings: TASKS[profile].flatMap(({ task }) => {
        const { dataset } = task;
        const name = titleOf(task);
        const here = closed.filter(({ cell }) => cell.task.dataset === dataset);
        const rate = atRate.filter(({ cell }) => cell.task.dataset === dataset);
        return [
          lineOrderings(`${name}: ${OURS} is ahead of SecAgg at every beta`, here, [OURS, 'SecAgg'], axis.of),
          ofPaper(
            'section 4.3, Figure 2: "AFL with BASA can significantly outperform SFL with SecAgg"',
            lineOrderings(
              `${name}: BASA paper is ahead of SecAgg at every beta`,
              here,
              ['BASA paper', 'SecAgg'],
              axis.of,
            ),
          ),
          meanOrdering(
            `${name}: ${OURS} takes at most 1.6 times as long as no SA, in the mean over the betas`,
            here,
            [OURS, 'no SA'],
            axis.of,
            1.6,
          ),
          fasterWithLess(`${name}: ${OURS} takes longer with every larger beta, as in the paper`, here, OURS, axis.of),
          reachedClaim(`${name}: no run collapses: all come to the target`, here),
          meanOrdering(
            `${name}: with users at a constant rate ${OURS} takes at most 1.6 times as long as no SA, in the mean over the betas`,
            rate,
            [OURS, 'no SA'],
            axis.of,
            1.6,
          ),
        ];
      }),
      notes: [
        'Devices are declared: training takes about one second for an average user, in proportion to its examples.',
        ...dataNotes(tasks),
        'In asynchronous protocols the default of the server limits how many users train at the same time: about 40 of the 200 users, so that an update is about 3 versions old. Rounds use all 200.',
        'The paper gives no numbers and no targets for this figure.',
      ],
    };
  },
};
