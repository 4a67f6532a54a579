/** A device gives once on a model, and not again before the pause is over that its task asks for. */
import { granted, millis, type TaskId } from '@basa/protocol';
import { EMPTY_LEDGER, restMs, versionProblem } from '@basa/protocol/internal/one-shot/ledger.ts';
import { ONE_SHOT_DEFAULTS } from '@basa/protocol/policy';
import { reasonOf } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

const oneShot = { ...ONE_SHOT_DEFAULTS, minIntervalMs: 30_000 };

const GIVEN = { serial: 5, uploads: 1, at: millis(0), task: filled(1), model: filled(2) };

function filled(byte: number): TaskId {
  return new Uint8Array(32).fill(byte) as TaskId;
}

describe('a device that gave', () => {
  const of = (task: number, serial: number, model: number) =>
    versionProblem({ given: GIVEN }, { task: filled(task), serial, modelHash: filled(model) })?.reason;

  it('gives on no model below its highest serial, and on the same parameters only under a higher one', () => {
    expect([of(1, 4, 3), of(1, 5, 3), of(1, 6, 3), of(1, 6, 2)]).toEqual([
      'version-given',
      'version-given',
      undefined,
      undefined,
    ]);
  });

  it('skips the first model of a successor if it is the last one of the task before', () => {
    expect([of(9, 6, 2), of(9, 6, 3), of(9, 5, 3)]).toEqual(['version-given', undefined, 'version-given']);
  });
});

describe('the pause between two updates of a device', () => {
  it('is measured by its own clock, which makes it no longer when it is set back', () => {
    const ledger = { given: { ...GIVEN, at: millis(100_000) } };
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
