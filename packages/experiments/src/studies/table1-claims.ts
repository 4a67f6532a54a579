/** What Table 1 is expected to show. */
import type { Cell, ProtocolName } from '../cell.ts';
import type { CellResult } from '../grid.ts';
import type { Ordering, Pair } from '../outcome.ts';
import { ordering } from '../outcome.ts';
import type { ExperimentTask } from '../tasks.ts';
import type { Found } from './protocol-cells.ts';
import { betaOf, overSeeds, pairOf } from './protocol-cells.ts';

/** The two variants: training as it is measured here, and the paper's devices by its table (fact sheet 3.3). */
export const DEVICE_SECONDS = 1;
export const COMPUTES: readonly Cell['compute'][] = ['measured', DEVICE_SECONDS];

/** Looks up a cell over its seeds. */
export function foundIn(
  results: readonly CellResult[],
  compute: Cell['compute'],
): (task: ExperimentTask, beta: number, protocol: ProtocolName) => Found | undefined {
  return (task, beta, protocol) =>
    overSeeds(
      results,
      (cell) => cell.task === task && cell.compute === compute && cell.protocol === protocol && betaOf(cell) === beta,
    );
}

/** Fixed before any run (fact sheet 7.1 and the aims of the issue). */
export function orderingsOf(
  results: readonly CellResult[],
  tasks: readonly ExperimentTask[],
  betas: readonly number[],
): Ordering[] {
  const claims: Ordering[] = [];
  for (const compute of COMPUTES) {
    const variant = compute === 'measured' ? 'measured training' : `${compute} s of training`;
    const found = foundIn(results, compute);
    const pairs = (
      from: number,
      left: ProtocolName,
      right: ProtocolName,
      more: (beta: number) => boolean = () => true,
    ): Pair[] =>
      tasks.flatMap((task) =>
        betas
          .filter((beta) => beta >= from && more(beta))
          .map((beta) => pairOf(`${task.dataset}, beta ${beta}`, found(task, beta, left), found(task, beta, right))),
      );
    const rivals = ['SecAgg', 'SecAgg+', 'LSA sync', 'LSA async'] as const;
    claims.push(
      ordering(
        `${variant}, beta >= 3: BASA sealed takes at most 1.05 times as long as no SA`,
        pairs(3, 'BASA sealed', 'no SA'),
        1.05,
      ),
      ordering(
        `${variant}, beta >= 3: BASA sealed is ahead of SecAgg, SecAgg+ and both LSA`,
        rivals.flatMap((rival) =>
          pairs(3, 'BASA sealed', rival).map(([where, ...rest]) => [`${where}, ${rival}`, ...rest] as const),
        ),
      ),
      ordering(
        `${variant}, beta >= 3: BASA paper is ahead of SecAgg, LSA sync and LSA async, as in the paper`,
        (['SecAgg', 'LSA sync', 'LSA async'] as const).flatMap((rival) =>
          pairs(3, 'BASA paper', rival).map(([where, ...rest]) => [`${where}, ${rival}`, ...rest] as const),
        ),
      ),
      ordering(`${variant}, beta >= 3: LSA sync takes no longer than SecAgg`, pairs(3, 'LSA sync', 'SecAgg'), 1.02),
      ordering(`${variant}: BASA sealed takes no longer than BASA paper`, pairs(0, 'BASA sealed', 'BASA paper'), 1.02),
    );
    if (compute !== 'measured') {
      claims.push(
        ordering(
          `${variant}, every beta: BASA sealed takes at most 1.05 times as long as no SA`,
          pairs(0, 'BASA sealed', 'no SA'),
          1.05,
        ),
        ordering(
          `${variant}, beta 0: BASA sealed is ahead of SecAgg, SecAgg+ and both LSA`,
          rivals.flatMap((rival) =>
            pairs(0, 'BASA sealed', rival, (beta) => beta === 0).map(
              ([where, ...rest]) => [`${where}, ${rival}`, ...rest] as const,
            ),
          ),
        ),
      );
    }
  }
  return claims;
}
