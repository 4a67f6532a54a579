/** The training time of a trip: as measured here, or by a device that was declared. */
import type { Cell, Compute, ExperimentTask } from '@basa/virtual-time';

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
  '"Training as measured": a trip takes what this machine takes for all examples of its user, with the network that is charged. "Declared devices": about one second for a trip of an average user, in proportion to its examples. Protocol costs are measured in both.',
];
