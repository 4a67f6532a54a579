/** Until when an authority votes for a batch, and what the votes of others change in that. */
import { equalBytes } from '@basa/masking';
import { isRefused, millis, userIdOf } from '@basa/protocol';
import type { ShotDevice, StoredShot } from '@basa/simulator';
import { granted, reasonOf } from '@basa/simulator';
import { reloaded } from '@basa/testkit/core/one-shot/shot-requests.ts';
import type { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { signedTerm } from '@basa/testkit/core/signed-terms.ts';
import { describe, expect, it } from 'vitest';
import { inspected, voted } from './scene.ts';

const HOUR = 3_600_000;
const VOTE = 900_000;
const SUCCESSION = { succession: { waitMs: HOUR, recoveryHash: undefined } };

/** All authorities but the first begin the next term. */
function switched(world: ShotWorld): void {
  const [, ...others] = world.authorities.map(({ base }) => base);
  const signers = others.map(({ ports }) => ports.signer);
  const change = { effective: millis(world.now + HOUR) };
  const term = signedTerm(world.policy, { key: world.signer(), isLost: true, signers, change });
  const line = { policy: world.policy, terms: [term] };
  for (const one of others) {
    granted(one.persist(one.core.followLine(line, world.now)));
    granted(one.persist(one.core.tick(term.effective)));
  }
  world.pass(HOUR);
}

/** The status of an upload by the authority with this index. */
function statusAt(world: ShotWorld, index: number, { upload }: StoredShot): string {
  const { user, joinTag, epochs } = upload.header;
  return world.server.outcomeBy(index, { user, joinTag, statement: epochs[index]?.statement as Uint8Array }).status;
}

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

  it('is not repeated in a later term: the batch was given up at the switch', () => {
    const { world, batch, votes, shots } = voted(SUCCESSION);
    switched(world);
    for (const index of [1, 2, 3]) {
      expect(statusAt(world, index, shots[0] as StoredShot)).toBe('unknown');
      expect(world.server.voteBy(index, batch)).toMatchObject({ reason: 'epoch-over', slots: [0, 1, 2] });
      expect(reasonOf(world.server.releaseBy(index, batch, { votes }))).toBe('epoch-over');
    }
  });

  it('for a batch that was given up does not hide that the upload is in a version', () => {
    const { world, shots } = inspected(SUCCESSION, 4);
    const { server } = world;
    const [first, second] = [server.batch(shots.slice(1)), server.batch(shots.slice(0, 3))];
    server.voteBy(3, first);
    const votes = server.votes(second, [0, 1, 2]);
    for (const index of world.indices) granted(server.releaseBy(index, second, { votes }));
    world.append({ sums: [server.closing(second).ctx], spoilt: [] });
    switched(world);
    expect(shots.map((shot) => statusAt(world, 3, shot))).toEqual(['included', 'included', 'included', 'unknown']);
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

  it('leaves out the end of a certificate of the last minutes if others voted before', () => {
    const { world, batch } = inspected();
    const { server } = world;
    const votes = server.votes(batch, [0, 1]);
    for (const { examined } of world.authorities.slice(2))
      for (const [name, one] of examined) examined.set(name, { ...one, notAfter: millis(world.now + 1) });
    world.pass(1);
    expect(server.voteBy(2, batch)).toMatchObject({ reason: 'certificate-expired', slots: [0, 1, 2] });
    world.pass(15 * 60_000 - 1);
    expect(isRefused(server.voteBy(2, batch, { votes }))).toBe(false);
    world.pass(1);
    expect(reasonOf(server.voteBy(3, batch, { votes }))).toBe('certificate-expired');
  });

  it('ignores a revocation or the end of a certificate in the last minutes if others voted before', () => {
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
