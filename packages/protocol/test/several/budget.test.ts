/** The authorities' cap on a private budget, where each counts the keys that it issued: how far a device without a ledger gets. */
import { slotKeySealings } from '@basa/experiments/real-sealings';
import { isRefused } from '@basa/protocol';
import type { Federation, FederationDevice } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

function privateWorld(authorities: number, threshold: number, participations: number): Federation {
  const privacy = { noiseMultiplier: 1, colluders: 0, delta: 1e-6, participations };
  const council = { authorities, threshold };
  const sealings = slotKeySealings(authorities);
  return nodeFederation({ bufferSize: 2, minimum: 2, dimension: 4, level: 5, privacy, sealings, council });
}

/** Sums that hold the device's updates until it is refused, in buffers without `awayIn(n)`; its ledger is lost each time. */
function sumsOf(world: Federation, awayIn: (sum: number) => readonly number[]): number {
  const device: FederationDevice = world.device();
  for (let sums = 0; ; sums++) {
    const other = world.device();
    world.away.clear();
    for (const index of awayIn(sums)) world.away.add(index);
    device.ledger = { ...device.ledger, deltas: new Map() };
    if (sums > 0) device.newUpdate();
    if (isRefused(device.contribute()) || isRefused(other.contribute())) return sums;
    world.server.finish(device.ctx);
  }
}

describe('a device that lost its ledger', () => {
  it('is in as many sums as its budget has, where it asks all authorities', () => {
    expect(sumsOf(privateWorld(4, 3, 3), () => [])).toBe(3);
  });

  it.each([
    { authorities: 4, threshold: 3, participations: 3, most: 4 },
    { authorities: 5, threshold: 4, participations: 5, most: 6 },
    { authorities: 3, threshold: 3, participations: 3, most: 3 },
  ])(
    'is in $most sums in place of $participations, where a server draws with another $threshold of $authorities each time',
    ({ authorities, threshold, participations, most }) => {
      const world = privateWorld(authorities, threshold, participations);
      const spare = authorities - threshold;
      const awayIn = (sum: number) => Array.from({ length: spare }, (_, n) => (sum * spare + n) % authorities);
      expect(sumsOf(world, awayIn)).toBe(most);
      expect(most).toBe(Math.floor((authorities * participations) / threshold));
    },
  );
});
