/** The claims about Table 1. */

import { isSynchronous, type ProtocolName } from '@basa/simulator/virtual-time';
import { type Ordering, ofPaper, ordering, type Pair } from '../report/outcome.ts';
import type { CellResult } from '../run/grid.ts';
import type { ExperimentTask } from '../tasks/tasks.ts';
import { COMPUTE_TITLES, COMPUTES, type ComputeName, computeName } from './computes.ts';
import { betaOf, type Found, overSeeds, pairOf } from './protocol-cells.ts';

/** The product, with one authority. */
export const OURS = 'BASA one-shot' satisfies ProtocolName;
const RIVALS = ['SecAgg', 'SecAgg+', 'LSA sync', 'LSA async'] as const satisfies readonly ProtocolName[];

/** Looks up a cell over its seeds. */
export function foundIn(
  results: readonly CellResult[],
  compute: ComputeName,
): (task: ExperimentTask, beta: number, protocol: ProtocolName) => Found | undefined {
  return (task, beta, protocol) =>
    overSeeds(
      results,
      (cell) =>
        cell.task.dataset === task.dataset &&
        computeName(cell) === compute &&
        cell.protocol === protocol &&
        betaOf(cell) === beta,
    );
}

/** Written before the runs: the results of the paper's table, and what we expect of `one-shot` mode, whose batches have one version. */
export function orderingsOf(
  results: readonly CellResult[],
  tasks: readonly ExperimentTask[],
  betas: readonly number[],
): Ordering[] {
  return COMPUTES.flatMap((compute) => tasks.flatMap((task) => claimsOf(results, task, betas, compute)));
}

function claimsOf(
  results: readonly CellResult[],
  task: ExperimentTask,
  betas: readonly number[],
  compute: ComputeName,
): Ordering[] {
  const found = foundIn(results, compute);
  const where = `${task.dataset}, ${COMPUTE_TITLES[compute]}`;
  const late = betas.filter((beta) => beta >= 3);
  const against = (at: readonly number[], left: ProtocolName, rivals: readonly ProtocolName[]): Pair[] =>
    at.flatMap((beta) =>
      rivals.map((rival) => pairOf(`beta ${beta}, ${rival}`, found(task, beta, left), found(task, beta, rival))),
    );
  const asynchronous = results.filter(
    ({ cell }) => cell.task.dataset === task.dataset && computeName(cell) === compute && !isSynchronous(cell),
  );
  return [
    ordering(`${where}: ${OURS} is ahead of SecAgg, SecAgg+ and LSA with delays`, against(late, OURS, RIVALS)),
    ordering(
      `${where}: ${OURS}, whose batches have one version, takes at most 1.6 times as long to the target as no SA`,
      against(betas, OURS, ['no SA']),
      1.6,
    ),
    ofPaper(
      'section 4.2: "when beta is not zero, BASA takes the shortest total wall-clock time"',
      ordering(
        `${where}: BASA paper is ahead of SecAgg and LSA with delays`,
        against(late, 'BASA paper', ['SecAgg', 'LSA sync', 'LSA async']),
      ),
    ),
    ofPaper(
      'section 4.2: "up to 62% extra time cost when beta=3"',
      ordering(
        `${where}: BASA paper takes at most 1.62 times as long as no SA at beta 3`,
        against(
          betas.filter((beta) => beta === 3),
          'BASA paper',
          ['no SA'],
        ),
        1.62,
      ),
    ),
    ofPaper(
      'section 4.2: "up to 23% extra time cost when beta=6"',
      ordering(
        `${where}: BASA paper takes at most 1.23 times as long as no SA at beta 6`,
        against(
          betas.filter((beta) => beta === 6),
          'BASA paper',
          ['no SA'],
        ),
        1.23,
      ),
    ),
    ofPaper(
      'Table 1',
      ordering(
        `${where}: LSA in rounds takes no longer than SecAgg (1.02 times)`,
        against(betas, 'LSA sync', ['SecAgg']),
        1.02,
      ),
    ),
    ordering(
      `${where}: every asynchronous run comes to its target`,
      asynchronous.map(({ cell, isReached }): Pair => {
        return [`beta ${betaOf(cell)}, ${cell.protocol}, seed ${cell.seed}`, isReached ? 0 : 1, 0];
      }),
    ),
  ];
}
