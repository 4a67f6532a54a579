/** A draft of the authority, which its services decide steps on, knows everything that the authority itself knows. */
import { EMPTY_LEDGER } from '@basa/protocol';
import { granted, reasonOf } from '@basa/simulator';
import { authorityOf, drawnBy, planOf, severalAuthorities } from '@basa/testkit/core/several.ts';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

describe('a draft of the authority', () => {
  it('makes offers that are open outside of it, and uses them up for good', () => {
    const world = severalAuthorities();
    const authority = authorityOf(world, 1);
    const { core } = authority;
    authority.core = core.draft();
    const { plan } = planOf(world, [0, 1, 2, 3]);
    authority.core = core.draft();
    granted(drawnBy(world, 1, [plan]));
    authority.core = core.draft();
    expect(reasonOf(drawnBy(world, 1, [plan]))).toBe('offer-unknown');
  });

  it.each([false, true])('holds a device to its budget; device included in the draft itself: %s', (isWithin) => {
    const privacy = { noiseMultiplier: 1, colluders: 0, delta: 1e-6, participations: 1 };
    const world = nodeFederation({ bufferSize: 2, minimum: 2, dimension: 4, level: 5, privacy });
    const authority = authorityOf(world, 0);
    if (isWithin) authority.core = authority.core.draft();
    const [device, other] = [world.device(), world.device()];
    for (const one of [device, other]) granted(one.contribute());
    world.server.finish(device.ctx);
    if (!isWithin) authority.core = authority.core.draft();
    device.ledger = EMPTY_LEDGER;
    device.newUpdate();
    expect(reasonOf(device.contribute())).toBe('budget-spent');
  });
});
