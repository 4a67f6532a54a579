/** A grid as somebody wants to see it: another rate of the server, damping, users at a time, delay, or LEAF's data. */
import type { Damping } from '@basa/learning';
import type { Cell } from './cell.ts';
import { exponential } from './cell.ts';

export interface Changes {
  readonly serverRate?: number | undefined;
  readonly damping?: Damping | undefined;
  /** Users at a time. */
  readonly concurrency?: number | undefined;
  /** Mean of the exponential delay, in seconds. */
  readonly beta?: number | undefined;
  readonly places?: Cell['places'] | undefined;
  /** A folder of LEAF's FEMNIST. */
  readonly leaf?: string | undefined;
}

/** Cells that become the same by a change are one. */
export function changed(cells: readonly Cell[], changes: Changes = {}): readonly Cell[] {
  const all = cells.map((cell) => change(cell, changes));
  return [...new Map(all.map((cell) => [JSON.stringify(cell), cell])).values()];
}

function change(cell: Cell, { serverRate, damping, concurrency, beta, places, leaf }: Changes): Cell {
  const { task } = cell;
  const { buffers } = task.step;
  const step = {
    ...task.step,
    buffers: {
      ...buffers,
      ...(serverRate !== undefined && { rate: serverRate }),
      ...(damping !== undefined && { damping }),
    },
  };
  return {
    ...cell,
    task: { ...task, step, ...(leaf !== undefined && task.dataset === 'FEMNIST' && { leaf }) },
    ...(concurrency !== undefined && { concurrency }),
    ...(beta !== undefined && { delay: exponential(beta) }),
    ...(places !== undefined && { places }),
  };
}
