/** The updates of the trial, and the input of a process that sends them. */
import type { DeviceServices } from '@basa/testkit/processes/test-processes.ts';

export const LEVEL: number = 2 ** 16;

/** Whole numbers of quantiser steps, another pattern for each user: nothing is rounded. */
export function numberOf(user: number, place: number): number {
  return (((place + 7 * user) % 101) - 50) / LEVEL;
}

/** Version 0 is zeros: version 1 is minus the mean, in the server's own arithmetic. */
export function isMeanOf(users: number, parameters: Float32Array): boolean {
  return parameters.every((value, place) => {
    let sum = 0;
    for (let user = 0; user < users; user++) sum += numberOf(user, place) * LEVEL;
    return value === Math.fround(0 - Math.fround(sum * (1 / (LEVEL * users))));
  });
}

export interface SendersWork {
  readonly services: DeviceServices;
  readonly dimension: number;
  /** The number of the first user; each has a token. */
  readonly first: number;
  readonly tokens: readonly string[];
  readonly atOnce: number;
}
