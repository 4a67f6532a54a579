/** A batch holds only uploads for which the same authorities would vote: two devices that different ones refuse strand nobody. */
import { toHex } from '@basa/masking';
import { granted, isRefused } from '@basa/protocol';
import type { ShotDevice, StoredShot } from '@basa/simulator';
import { type ShotOptions, ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { saidOf } from './scene.ts';

const PRIVATE: ShotOptions = {
  level: 64,
  privacy: { noiseMultiplier: 1, colluders: 1, budget: { delta: 1e-6, participations: 3 } },
};
/** One authority revokes the device, so the others still vote for it. */
function revokeAt(world: ShotWorld, index: number, device: ShotDevice): void {
  world.authority(index).base.revoke(device.own.user);
}

/** The device has lost its ledger, so it does not know how often it gave. */
function give(device: ShotDevice): void {
  device.own.ledgerRecords = [];
  device.own.restart();
  device.own.newUpdate();
  const end = device.contribute();
  if (isRefused(end)) throw new Error(end.reason);
}

/** Makes the next batch of all good uploads. Returns the devices of its uploads and the verdict on its sum. */
function nextBatch(world: ShotWorld) {
  const { shots } = world.federation;
  shots.inspect();
  const ctx = shots.form();
  if (ctx === undefined) throw new Error('no batch was made');
  const users = shots.batch(ctx).batch.uploads.map((name) => toHex(shots.shot(name).upload.header.user));
  return { users: users.sort(), closed: granted(shots.close(ctx)) };
}

const usersOf = (devices: readonly ShotDevice[]) => devices.map(({ own }) => toHex(own.user)).sort();

describe('two devices that are refused by different authorities', () => {
  it('because they were in as many sums as they may be there, are not in one batch', () => {
    const world = new ShotWorld(PRIVATE);
    const [one, other] = [world.device(), world.device()];
    /** The device is in a sum of which this authority knows nothing, as if the upload did not name it. */
    const giveWithout = (silent: number, device: ShotDevice): void => {
      world.away.add(silent);
      give(device);
      world.contributed(2);
      nextBatch(world);
      world.away.clear();
    };
    for (const silent of [1, 2, 3]) giveWithout(silent, one);
    for (const silent of [0, 2, 3]) giveWithout(silent, other);
    give(one);
    give(other);
    const shots = world.server.shots.slice(-2) as [StoredShot, StoredShot];
    expect(shots.map((shot) => saidOf(world, shot).map((said) => said === 'good'))).toEqual([
      [false, true, true, true],
      [true, false, true, true],
    ]);
    const honest = world.contributed(2);
    const { users, closed } = nextBatch(world);
    expect([closed.kind, users]).toEqual(['good', usersOf([...honest, one])]);
  });

  it('because these revoked them, are not in one batch', () => {
    const world = new ShotWorld();
    const devices = world.contributed(4);
    const [first, second, ...honest] = devices as [ShotDevice, ShotDevice, ...ShotDevice[]];
    revokeAt(world, 0, first);
    revokeAt(world, 1, second);
    const { users, closed } = nextBatch(world);
    expect([closed.kind, users]).toEqual(['good', usersOf([...honest, first])]);
  });

  it('because one of them does not name the authority, are not in one batch', () => {
    const world = new ShotWorld();
    world.away.add(3);
    const early = world.contributed(1);
    world.away.clear();
    const [first, ...honest] = world.contributed(3) as [ShotDevice, ...ShotDevice[]];
    revokeAt(world, 0, first);
    const { users, closed } = nextBatch(world);
    expect([closed.kind, users]).toEqual(['good', usersOf([...early, ...honest])]);
  });
});
