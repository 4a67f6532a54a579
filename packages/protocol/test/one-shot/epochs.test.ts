/** Epoch keys: when one opens, how long its unit lives, and that nothing of a unit that is gone is voted for or released. */
import { granted } from '@basa/protocol';
import { isEpochDue } from '@basa/protocol/internal/one-shot/epochs.ts';
import { oneShotOf } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import { type Epoch, epochEnd } from '@basa/protocol/wire';
import { reasonOf, type ShotAuthority } from '@basa/simulator';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { inspected, verdicts, voted } from './scene.ts';

const HOUR = 3_600_000;

const isDue = (authority: ShotAuthority): boolean =>
  isEpochDue(authority.base.world.policy, authority.view.units, authority.now);

describe('an epoch', () => {
  it('opens a quarter of an epoch before the end of the one before, which stays live', () => {
    const world = new ShotWorld();
    const authority = world.authority(0);
    const [first] = authority.epochs().epochs as [Epoch];
    expect(first.closes - first.opens).toBe(HOUR);
    world.pass((3 * HOUR) / 4 - 1);
    expect(isDue(authority)).toBe(false);
    authority.openEpoch();
    expect(authority.view.units).toHaveLength(1);
    world.pass(1);
    expect(isDue(authority)).toBe(true);
    authority.openEpoch();
    expect(authority.view.units.map(({ epoch }) => epoch.closes)).toEqual([first.closes, world.now + HOUR]);
    expect(authority.epochs().epochs).toEqual(authority.view.units.map(({ epoch }) => epoch));
  });

  it('is destroyed with its unit an epoch after it closed', () => {
    const world = new ShotWorld();
    const authority = world.authority(0);
    const [epoch] = authority.epochs().epochs as [Epoch];
    const [{ statement } = { statement: new Uint8Array() }] = authority.view.units;
    expect(epochEnd(oneShotOf(world.policy), epoch)).toBe(epoch.closes + HOUR);
    world.pass(2 * HOUR - 1);
    authority.tick();
    expect(authority.epochSecret(statement)).toBeDefined();
    world.pass(1);
    authority.tick();
    expect(authority.epochSecret(statement)).toBeUndefined();
  });

  it('is listed until it closes', () => {
    const world = new ShotWorld();
    const authority = world.authority(0);
    const [epoch] = authority.epochs().epochs as [Epoch];
    world.pass(HOUR - 1);
    expect(authority.epochs()).toEqual({ epochs: [epoch] });
    world.pass(1);
    expect(authority.epochs()).toEqual({ epochs: [] });
  });
});

describe('a batch', () => {
  it('is voted for and released until an epoch after the one that its uploads name has closed, and not later [S17]', () => {
    const { world, batch } = inspected();
    const { server } = world;
    world.pass(2 * HOUR - 1);
    for (const index of world.indices) world.authority(index).tick();
    const votes = server.votes(batch);
    granted(server.releaseBy(0, batch, { votes }));
    world.pass(1);
    world.authority(1).tick();
    expect(server.releaseBy(1, batch, { votes })).toMatchObject({ reason: 'epoch-over', uploads: [0, 1, 2] });
    expect(reasonOf(server.voteBy(1, batch))).toBe('epoch-over');
    granted(server.releaseBy(0, batch, { votes }));
  });
});

describe('an authority that was restored', () => {
  it('has no units: it neither judges, votes for nor releases what names an earlier epoch [S11] [S13]', () => {
    const { world, batch, votes, shots } = voted();
    const { server } = world;
    const authority = world.authority(0);
    const { examined } = authority;
    const kept = new Map(examined);
    authority.restore();
    expect(verdicts(server.inspectBy(0, shots))).toEqual(Array(3).fill('abstain: epoch-over'));
    for (const [name, one] of kept) examined.set(name, one);
    expect(reasonOf(server.voteBy(0, batch))).toBe('epoch-over');
    expect(reasonOf(server.releaseBy(0, batch, { votes }))).toBe('epoch-over');
    authority.openEpoch();
    world.contributed(3);
    const fresh = server.shots.slice(-3);
    server.inspect(fresh);
    const next = server.batch(fresh);
    granted(server.releaseBy(0, next, { votes: server.votes(next) }));
    expect(reasonOf(server.releaseBy(0, batch, { votes }))).toBe('epoch-over');
  });

  it('lets the others go on: a batch that all named is opened without it', () => {
    const { world, batch, votes } = voted();
    const authority = world.authority(0);
    authority.restore();
    expect([...world.server.release(batch, votes).subarray(0, 4)]).toEqual([3, 0, 0, 0]);
  });
});
