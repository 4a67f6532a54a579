/** Sizes of batches that an expected number of devices can fill, and a warning about those that they cannot. */
import { type Flag, whole } from '../shell/flag.ts';

export const devicesFlag: Flag<number | undefined> = whole({
  help: 'expected number of devices, for batches and places that they can fill',
  min: 2,
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
  const bufferSize = Math.max(2, Math.min(most, Math.floor(devices / BATCHES)));
  return {
    bufferSize,
    minimum: fittingMinimum(bufferSize),
    places: bufferSize * Math.max(1, Math.min(BATCHES, Math.floor(devices / bufferSize))),
  };
}

export function fittingMinimum(bufferSize: number): number {
  return Math.max(2, Math.ceil(ENOUGH * bufferSize));
}

/** Undefined unless a single device can stop the task. */
export function spoilerWarning(minimum: number, devices: number | undefined): string | undefined {
  if (devices === undefined || minimum <= devices / 2) return undefined;
  return `warning: every batch needs ${minimum} of ${devices} devices, so a few that spoil their updates can stop the task; choose a --minimum of at most ${Math.max(2, Math.floor(devices / 2))}`;
}
