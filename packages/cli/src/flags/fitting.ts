/** Sizes of batches that an expected number of devices can fill, and a warning about those that they cannot. */
import { type Flag, whole } from '../shell/flag.ts';

/** The floor of devices that ask for nothing else: they take part in no smaller sum. */
export const FEWEST = 3;

export const devicesFlag: Flag<number | undefined> = whole({
  help: 'expected number of devices, for batches and places that they can fill',
  min: FEWEST,
});

export interface Fitting {
  readonly bufferSize: number;
  readonly minimum: number;
  readonly places: number;
}

/** The share of K that is enough for a batch: with three drop-outs of twenty devices, two batches of ten still have it. */
const ENOUGH = 0.7;
/** While one batch is summed, the next one fills. */
const BATCHES = 2;

/**
 * Two batches of at most `most` updates at a time: places that are a multiple of K leave few updates over, and with a
 * Kmin of at most half of the devices a spoiler can be left out.
 */
export function fittingFor(devices: number, most: number): Fitting {
  const bufferSize = Math.max(FEWEST, Math.min(most, Math.floor(devices / BATCHES)));
  return {
    bufferSize,
    minimum: fittingMinimum(bufferSize),
    places: bufferSize * Math.max(1, Math.min(BATCHES, Math.floor(devices / bufferSize))),
  };
}

export function fittingMinimum(bufferSize: number): number {
  return Math.max(FEWEST, Math.ceil(ENOUGH * bufferSize));
}

/** Undefined unless a single device can stop the task. */
export function spoilerWarning(minimum: number, devices: number | undefined): string | undefined {
  if (devices === undefined || minimum <= devices / 2) return undefined;
  const most = Math.floor(devices / 2);
  const advice =
    most < FEWEST ? `with ${2 * FEWEST} devices, choose --minimum ${FEWEST}` : `choose a --minimum of at most ${most}`;
  return `warning: every batch needs ${minimum} of ${devices} devices, so a few that spoil their updates can stop the task; ${advice}`;
}

/** Undefined if devices take part without being told to ask for less. */
export function floorWarning(minimum: number): string | undefined {
  if (minimum >= FEWEST) return undefined;
  return `warning: a sum may contain only ${minimum} updates, and devices demand at least ${FEWEST}: they take part only with \`basa client --minimum ${minimum}\`, floor: { minimum: ${minimum} }, or Floor(minimum=${minimum}) in Python`;
}
