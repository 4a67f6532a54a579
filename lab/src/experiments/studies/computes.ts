/** The training time of a trip: measured on this machine, or assumed for a typical device. */

import type { Compute } from '@basa/simulator/virtual-time';
import type { Cell, ExperimentTask } from '../tasks/tasks.ts';

export type ComputeName = 'measured' | 'declared';
export const COMPUTES: readonly ComputeName[] = ['measured', 'declared'];

export function computeOf(name: ComputeName, { secondsAnExample }: ExperimentTask): Compute {
  return name === 'measured' ? 'measured' : { secondsAnExample };
}

/** In a table or a row. */
export function computeName({ compute }: Pick<Cell, 'compute'>): string {
  if (compute === 'measured') return 'measured';
  return 'secondsATrip' in compute ? `${compute.secondsATrip} s a trip` : 'declared';
}

/** For a sentence. */
export const COMPUTE_TITLES: Readonly<Record<ComputeName, string>> = {
  measured: 'training as measured',
  declared: 'declared devices',
};

export const COMPUTE_NOTES = [
  '"Training as measured": a trip takes as long as this machine needs for all examples of the user, with the network whose cost is charged. "Declared devices": a trip of an average user takes about one second, in proportion to its examples. Protocol costs are measured in both cases.',
];
