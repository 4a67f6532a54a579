/** Changes a grid as the command line asks: other protocols, another K, server rate, damping, number of concurrent users, delay, or LEAF's data. */
import type { Damping } from '@basa/learning';
import { exponential, type ProtocolName } from '@basa/simulator/virtual-time';
import type { Cell } from '../tasks/tasks.ts';

export interface Changes {
  readonly serverRate?: number | undefined;
  /** Only cells of these. */
  readonly protocols?: readonly ProtocolName[] | undefined;
  /** K. */
  readonly bufferSize?: number | undefined;
  readonly damping?: Damping | undefined;
  /** Users at a time. */
  readonly concurrency?: number | undefined;
  /** Mean of the exponential delay, in seconds. */
  readonly beta?: number | undefined;
  readonly places?: Cell['places'] | undefined;
  /** A folder of LEAF's FEMNIST. */
  readonly leaf?: string | undefined;
  /** Rates of the server by what learns, chosen by the study "rates" on seed 0; its own cells do not change. */
  readonly rates?: ChosenRates | undefined;
}

export type ChosenRates = Readonly<
  Record<string, { readonly buffers: number; readonly rounds: number; readonly users: number }>
>;

/** Cells that become the same by a change are one. */
export function changed(cells: readonly Cell[], changes: Changes = {}): readonly Cell[] {
  const { protocols } = changes;
  const wanted = cells.filter(({ protocol }) => protocols === undefined || protocols.includes(protocol));
  const all = wanted.map((cell) => change(cell, changes));
  return [...new Map(all.map((cell) => [JSON.stringify(cell), cell])).values()];
}

function change(cell: Cell, changes: Changes): Cell {
  const { serverRate, bufferSize, damping, concurrency, beta, places, leaf, rates } = changes;
  const { task } = cell;
  const { buffers, rounds } = task.step;
  const chosen = cell.seed === 0 ? undefined : rates?.[task.learn];
  const rate = serverRate ?? chosen?.buffers;
  const step = {
    rounds: { ...rounds, ...(chosen !== undefined && { rate: chosen.rounds }) },
    buffers: {
      ...buffers,
      ...(rate !== undefined && { rate }),
      ...(damping !== undefined && { damping }),
    },
  };
  return {
    ...cell,
    task: {
      ...task,
      step,
      ...(chosen !== undefined && { learningRate: chosen.users }),
      ...(leaf !== undefined && task.dataset === 'FEMNIST' && { leaf }),
    },
    ...(bufferSize !== undefined && { bufferSize }),
    ...(concurrency !== undefined && { concurrency }),
    ...(beta !== undefined && { delay: exponential(beta) }),
    ...(places !== undefined && { places }),
  };
}
