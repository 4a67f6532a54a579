/** A device gives once on a model, and not again before the pause is over that its task asks for. */
import { EMPTY_LEDGER, millis, ONE_SHOT_DEFAULTS, restMs } from '@basa/protocol';
import { granted, reasonOf } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

const oneShot = { ...ONE_SHOT_DEFAULTS, minIntervalMs: 30_000 };

describe('the pause between two updates of a device', () => {
  it('is measured by its own clock, which makes it no longer when it is set back', () => {
    const ledger = { given: { serial: 1, uploads: 1, at: millis(100_000) } };
    const rests = [100_000, 129_999, 130_000, 99_999].map((now) => restMs(ledger, { oneShot }, millis(now)));
    expect(rests).toEqual([30_000, 1, 0, 0]);
    expect(restMs(EMPTY_LEDGER, { oneShot }, millis(0))).toBe(0);
  });

  it('is over before the device gives on a newer model', () => {
    const world = nodeFederation({ bufferSize: 2, minimum: 2, dimension: 4, policy: { oneShot } });
    const [first, second] = [world.shooter(), world.shooter()];
    for (const device of [first, second]) granted(device.contribute());
    world.shots.inspect();
    granted(world.shots.close(world.shots.form() as never));
    first.own.newUpdate();
    expect(reasonOf(first.contribute())).toBe('given-lately');
    expect(first.own.ledger.given?.uploads).toBe(1);
    world.now = millis(world.now + oneShot.minIntervalMs);
    granted(first.contribute());
  });
});
