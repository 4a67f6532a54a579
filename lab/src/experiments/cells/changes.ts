/** Changes a grid as the command line asks: other protocols, another K, server rate, damping, number of concurrent users, delay, or LEAF's data. */
import type { Damping } from '@basa/learning';
import { exponential } from '@basa/simulator/virtual-time';
import { lineOf } from '../studies/racers.ts';
import { type Cell, FIRST_SEED } from '../tasks/tasks.ts';

export interface Changes {
  readonly serverRate?: number | undefined;
  readonly momentum?: number | undefined;
  /** Only these lines. */
  readonly lines?: readonly string[] | undefined;
  /** K. */
  readonly bufferSize?: number | undefined;
  readonly damping?: Damping | undefined;
  /** Kmin of one-shot mode. */
  readonly minimum?: number | undefined;
  /** The accuracy at which time to the target ends. */
  readonly target?: number | undefined;
  /** The share of trips whose user leaves before it uploads. */
  readonly dropouts?: number | undefined;
  /** Users at a time. */
  readonly concurrency?: number | undefined;
  /** Mean of the exponential delay, in seconds. */
  readonly beta?: number | undefined;
  readonly places?: Cell['places'] | undefined;
  /** A folder of LEAF's FEMNIST. */
  readonly leaf?: string | undefined;
  /** Rates of the server by what learns, chosen by the study "rates" on smaller seeds than results have; its own cells do not change. */
  readonly rates?: ChosenRates | undefined;
}

/** Of each task: the rate of its users, and that of the server by line. */
export type ChosenRates = Readonly<
  Record<string, { readonly users: number; readonly lines: Readonly<Record<string, number>> }>
>;

/** Cells that become the same by a change are one. */
export function changed(cells: readonly Cell[], changes: Changes = {}): readonly Cell[] {
  const { lines } = changes;
  const wanted = cells.filter((cell) => lines === undefined || lines.includes(lineOf(cell)));
  const all = wanted.map((cell) => change(cell, changes));
  return [...new Map(all.map((cell) => [JSON.stringify(cell), cell])).values()];
}

function change(cell: Cell, changes: Changes): Cell {
  const {
    minimum,
    target,
    dropouts,
    serverRate,
    momentum,
    bufferSize,
    damping,
    concurrency,
    beta,
    places,
    leaf,
    rates,
  } = changes;
  const { task } = cell;
  const { buffers, rounds } = task.step;
  const chosen = cell.seed < FIRST_SEED ? undefined : rates?.[task.learn];
  const rate = serverRate ?? chosen?.lines[lineOf(cell)] ?? chosen?.lines[cell.protocol];
  const step = {
    rounds: { ...rounds, ...(rate !== undefined && { rate }), ...(momentum !== undefined && { momentum }) },
    buffers: {
      ...buffers,
      ...(rate !== undefined && { rate }),
      ...(momentum !== undefined && { momentum }),
      ...(damping !== undefined && { damping }),
    },
  };
  return {
    ...cell,
    task: {
      ...task,
      step,
      ...(target !== undefined && { target }),
      ...(chosen !== undefined && { learningRate: chosen.users }),
      ...(leaf !== undefined && task.dataset === 'FEMNIST' && { leaf }),
    },
    ...(bufferSize !== undefined && { bufferSize }),
    ...(minimum !== undefined && { policy: { ...cell.policy, minimum } }),
    ...(dropouts !== undefined && { dropouts }),
    ...(concurrency !== undefined && { concurrency }),
    ...(beta !== undefined && { delay: exponential(beta) }),
    ...(places !== undefined && { places }),
  };
}
