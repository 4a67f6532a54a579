/** A fleet of phones that come and go: a trip takes minutes, and one phone in ten leaves. */
import { agedWeight } from '@basa/learning';
import type { Fleet } from '@basa/simulator';

export interface OpenFleet {
  readonly users: number;
  readonly perSecond: number;
  readonly bufferSize: number;
  readonly dimension: number;
}

export function openFleet({ users, perSecond, bufferSize, dimension }: OpenFleet): Fleet {
  return {
    users,
    concurrency: 100_000,
    arrivals: { kind: 'open', perSecond },
    examplesOf: () => 60,
    computeSeconds: () => 1,
    delay: { kind: 'lognormal', median: 60, sigma: 1 },
    dropouts: 0.1,
    link: { upBitsPerSecond: 10e6, downBitsPerSecond: 40e6, latencySeconds: 0.05 },
    modelBytes: 4 * dimension,
    weightOf: agedWeight,
    bufferSize,
    seed: 1,
  };
}
