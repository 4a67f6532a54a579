/** A draft of the authority, which its services decide steps on, knows everything that the authority itself knows. */
import { EMPTY_LEDGER } from '@basa/protocol';
import { granted } from '@basa/simulator';
import { describe, expect, it } from 'vitest';
import { verdicts, voted } from '../one-shot/scene.ts';

describe('a draft of the authority', () => {
  it.each([false, true])('holds a device to its budget; the batch included in the draft itself: %s', (isWithin) => {
    const privacy = { noiseMultiplier: 1, colluders: 1, delta: 1e-6, participations: 1 };
    const options = { count: 1, level: 64, privacy } as const;
    const { world, batch, votes, devices } = voted(options);
    const { base } = world.authority(0);
    if (isWithin) base.core = base.core.draft();
    granted(world.server.releaseBy(0, batch, { votes }));
    if (!isWithin) base.core = base.core.draft();
    world.append({ sums: [world.server.closing(batch).ctx], spoilt: [] });
    const [device] = devices as [(typeof devices)[number]];
    device.own.newUpdate();
    device.own.ledger = EMPTY_LEDGER;
    granted(device.contribute());
    const shot = world.server.shots.at(-1);
    expect(verdicts(world.server.inspectBy(0, shot === undefined ? [] : [shot]))).toEqual(['bad: budget-spent']);
  });

  it('changes nothing outside of it', () => {
    const { world } = voted({ count: 1 });
    const { base } = world.authority(0);
    const draft = base.core.draft();
    const step = draft.start(undefined, world.randomBytes(16), world.now);
    draft.apply(step.records);
    expect([draft.liveEpochs.length, base.core.liveEpochs.length]).toEqual([0, 1]);
    expect(base.core.head().sequence).toBe(base.log.length);
  });
});
