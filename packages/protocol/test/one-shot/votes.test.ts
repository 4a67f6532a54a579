/** Until when an authority votes for a batch, and what the votes of others change in that. */
import { equalBytes } from '@basa/masking';
import { isRefused, userIdOf } from '@basa/protocol';
import type { ShotDevice } from '@basa/simulator';
import { granted, reasonOf } from '@basa/simulator';
import { reloaded } from '@basa/testkit/core/one-shot/shot-requests.ts';
import { describe, expect, it } from 'vitest';
import { inspected, voted } from './scene.ts';

const HOUR = 3_600_000;
const VOTE = 900_000;

describe('a vote', () => {
  it('ends with the vote window, unless f + 1 others voted; f do not suffice', () => {
    const { world, batch } = inspected();
    const { server } = world;
    const votes = server.votes(batch, [0, 1]);
    world.pass(HOUR + VOTE - 1);
    expect(isRefused(server.voteBy(2, batch))).toBe(false);
    world.pass(1);
    expect(reasonOf(server.voteBy(3, batch))).toBe('epoch-over');
    expect(reasonOf(server.voteBy(3, batch, { votes: votes.slice(1) }))).toBe('epoch-over');
    expect(
      reasonOf(
        server.voteBy(3, batch, { votes: [votes[0], { authority: 1, signature: new Uint8Array(64) }] as never }),
      ),
    ).toBe('epoch-over');
    expect(isRefused(server.voteBy(3, batch, { votes }))).toBe(false);
  });

  it('is not backed by a vote of the authority itself', () => {
    const { world, batch } = inspected();
    const { server } = world;
    const votes = server.votes(batch, [0, 3]);
    const authority = world.authority(3);
    const examined = new Map(authority.examined);
    reloaded(
      authority,
      authority.base.log.filter(({ kind }) => kind !== 'batch-voted'),
    );
    for (const [name, one] of examined) authority.examined.set(name, one);
    world.pass(HOUR + VOTE);
    expect(reasonOf(server.voteBy(3, batch, { votes }))).toBe('epoch-over');
  });

  it('of an epoch that was given up is never given, and nothing is released, even with many votes [S13]', () => {
    const { world, batch, votes } = voted();
    const { server } = world;
    const authority = world.authority(0);
    const examined = new Map(authority.examined);
    world.pass(3 * HOUR);
    authority.tick();
    expect(reasonOf(server.releaseBy(0, batch, { votes }))).toBe('epoch-over');
    reloaded(
      authority,
      authority.base.log.filter(({ kind }) => kind !== 'batch-voted'),
    );
    for (const [name, one] of examined) authority.examined.set(name, one);
    expect(reasonOf(server.voteBy(0, batch, { votes: votes.slice(1) }))).toBe('epoch-over');
  });

  it('ignores a revocation in the last minutes if others voted before', () => {
    const { world, batch, devices } = inspected();
    const { server } = world;
    const votes = server.votes(batch, [0, 1]);
    for (const index of [2, 3]) {
      const authority = world.authority(index);
      authority.base.persist(authority.base.core.revoke((devices[1] as ShotDevice).own.user, world.now));
    }
    expect(server.voteBy(3, batch)).toMatchObject({ reason: 'revoked', slots: [1] });
    world.pass(15 * 60_000 - 1);
    expect(isRefused(server.voteBy(2, batch, { votes }))).toBe(false);
    world.pass(1);
    expect(server.voteBy(3, batch, { votes })).toMatchObject({ reason: 'revoked', slots: [1] });
  });

  it('ignores staleness if others voted before, and adds an entry that the authority missed', () => {
    const { world, batch } = inspected({ maxStaleness: 0 });
    const { server } = world;
    const votes = server.votes(batch, [0, 1, 2]);
    for (const index of [0, 1, 2]) granted(server.releaseBy(index, batch, { votes }));
    world.away.add(3);
    world.append({ sums: [server.closing(batch).ctx], spoilt: [] });
    world.away.clear();
    const late = world.authority(3);
    late.base.persist(late.base.core.adoptModel(server.models[1] as never));
    expect(reasonOf(server.voteBy(3, batch))).toBe('too-stale');
    expect(isRefused(server.voteBy(3, batch, { votes: votes.slice(0, 2) }))).toBe(false);
  });

  it('counts the age of an update from the newest version', () => {
    const { world, batch, votes } = voted({ maxStaleness: 1 });
    const { server } = world;
    for (const index of world.indices) granted(server.releaseBy(index, batch, { votes }));
    world.append({ sums: [server.closing(batch).ctx], spoilt: [] });
    world.contributed(3);
    const fresh = server.shots.slice(-3);
    expect(server.inspect(fresh)).toEqual(Array(3).fill({ kind: 'good' }));
    expect(server.votes(server.batch(fresh))).toHaveLength(4);
  });

  it('ignores that the device is unknown if others voted and enough authorities signed its certificate', () => {
    const { world, batch, devices } = inspected();
    const { server } = world;
    const votes = server.votes(batch, [0, 1]);
    const authority = world.authority(3);
    const examined = new Map(authority.examined);
    const { user } = (devices[1] as ShotDevice).own;
    const { suite } = world.environment.tools;
    reloaded(
      authority,
      authority.base.log.filter(
        (entry) => entry.kind !== 'device-enrolled' || !equalBytes(userIdOf(suite, entry.certificate.deviceKey), user),
      ),
    );
    for (const [name, one] of examined) authority.examined.set(name, one);
    expect(server.voteBy(3, batch)).toMatchObject({ reason: 'not-enrolled', slots: [1] });
    expect(server.voteBy(3, batch, { votes: votes.slice(1) })).toMatchObject({ reason: 'not-enrolled' });
    expect(isRefused(server.voteBy(3, batch, { votes }))).toBe(false);
  });
});
