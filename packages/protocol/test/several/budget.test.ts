/** The authorities' cap on a private budget: each counts the keys that it issued, which limits a device without a ledger. */

import { authorityMessages, isRefused, millis } from '@basa/protocol';
import { CLOSE_MS, type Federation, type FederationDevice, granted, OPEN_MS } from '@basa/simulator';
import { authorityOf, closedTogether } from '@basa/testkit/core/several.ts';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { slotKeySealings } from '@basa/virtual-time/real-sealings';
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
  it('is in as many sums as its budget allows, if it asks all authorities', () => {
    expect(sumsOf(privateWorld(4, 3, 3), () => [])).toBe(3);
  });

  it.each([
    { authorities: 4, threshold: 3, participations: 3, most: 4 },
    { authorities: 5, threshold: 4, participations: 5, most: 6 },
    { authorities: 3, threshold: 3, participations: 3, most: 3 },
  ])(
    'is in $most sums instead of $participations if the server draws with another $threshold of $authorities each time',
    ({ authorities, threshold, participations, most }) => {
      const world = privateWorld(authorities, threshold, participations);
      const spare = authorities - threshold;
      const awayIn = (sum: number) => Array.from({ length: spare }, (_, n) => (sum * spare + n) % authorities);
      expect(sumsOf(world, awayIn)).toBe(most);
      expect(most).toBe(Math.floor((authorities * participations) / threshold));
    },
  );

  it.each([
    { authorities: 4, threshold: 3, participations: 3, most: 5 },
    { authorities: 5, threshold: 4, participations: 3, most: 4 },
    { authorities: 3, threshold: 3, participations: 3, most: 3 },
  ])(
    'is in $most sums instead of $participations if the server closes with other authorities of $authorities than gave the keys',
    ({ authorities, threshold, participations, most }) => {
      const world = privateWorld(authorities, threshold, participations);
      const spare = authorities - threshold;
      const outOf = (from: number) => Array.from({ length: spare }, (_, n) => (from + n) % authorities);
      const split = (sum: number) => [outOf(2 * spare * sum), outOf(2 * spare * sum + spare)] as const;
      expect(splitSums(world, split)).toBe(most);
      const counting = 2 * threshold - authorities; // gave a key and heard of the close
      expect(most).toBe(1 + Math.floor((authorities * participations - threshold) / counting));
    },
  );
});

/** The same in buffers of all authorities: some give no key, others hear nothing of the close and abort, and no version is logged. */
function splitSums(world: Federation, without: (sum: number) => readonly [keys: number[], close: number[]]): number {
  const device: FederationDevice = world.device();
  const { closeRequest } = authorityMessages(world.policy.bufferSize);
  for (let sums = 0; ; sums++) {
    const [keyless, deaf] = without(sums);
    const other = world.device();
    device.ledger = { ...device.ledger, deltas: new Map() };
    if (sums > 0) device.newUpdate();
    for (const one of [device, other]) granted(one.contribute('deposit'));
    for (const index of keyless) world.away.add(index);
    const isOver = isRefused(device.contribute()) || isRefused(other.contribute());
    world.away.clear();
    if (isOver) return sums;
    granted(world.server.freeze(device.ctx));
    const closing = world.authorities.map((_, n) => n).filter((n) => !deaf.includes(n));
    const grant = closedTogether(world, device.ctx, (request) =>
      closing.map((n) => [n, authorityOf(world, n).close(closeRequest.encode(request))]),
    );
    expect(granted(grant).answers).toHaveLength(closing.length);
    world.now = millis(world.now + OPEN_MS + CLOSE_MS);
    for (const authority of world.authorities) authority.persist(authority.core.tick(world.now));
  }
}
