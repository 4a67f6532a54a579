/** The rules of a batch, its votes, and the point at which it is final. */
import { type Batch, batchProblem, isRefused, oneShotOf, type ShotHeader, type UserId } from '@basa/protocol';
import type { ShotDevice, StoredShot } from '@basa/simulator';
import { granted, reasonOf } from '@basa/simulator';
import { reloaded } from '@basa/testkit/core/one-shot/shot-requests.ts';
import { describe, expect, it } from 'vitest';
import { forged, inspected, takenForGood, voted } from './scene.ts';

const headersOf = (shots: readonly StoredShot[]): readonly ShotHeader[] => shots.map(({ upload }) => upload.header);

describe('a batch', () => {
  it('of fewer than Kmin, of more than K, or with one user twice is refused [S4] [S5]', () => {
    const { world, shots, devices } = inspected({}, 4);
    const { policy, server } = world;
    const vote = (some: readonly StoredShot[]) => server.voteBy(0, server.batch(some));
    expect(vote(shots.slice(0, 2))).toMatchObject({ reason: 'too-few' });
    const again = server.keep(
      forged(devices[0] as ShotDevice, shots[0] as StoredShot, { joinTag: world.randomBytes(16) as never }),
    );
    takenForGood(world, 0, again);
    expect(vote([...shots.slice(0, 3), again])).toMatchObject({ reason: 'duplicate-user', slots: [3] });
    expect(vote([...shots.slice(0, 2), shots[0] as StoredShot])).toMatchObject({
      reason: 'duplicate-user',
      slots: [2],
    });
    expect(batchProblem({ ...policy, bufferSize: 3 }, headersOf(shots))).toMatchObject({ reason: 'batch-invalid' });
    expect(isRefused(vote(shots))).toBe(false);
  });

  it('of two entries of the model log is refused, even if they have the same number [S7]', () => {
    const { world, shots } = inspected({}, 3);
    const [first, ...rest] = headersOf(shots) as [ShotHeader];
    const rewritten = { ...first, entry: new Uint8Array(32).fill(4) };
    expect(batchProblem(world.policy, [...rest, rewritten])).toMatchObject({ reason: 'batch-invalid', slots: [2] });
    expect(batchProblem(world.policy, [first, ...rest])).toBeUndefined();
  });

  it('mixes versions only if the policy says so, each named by enough uploads, and at most eight', () => {
    const { world, shots } = inspected({}, 3);
    const [header] = headersOf(shots) as [ShotHeader];
    const mixed = (versionMinimum: number | undefined, counts: readonly number[]) => {
      const versions = counts.flatMap((count, version) => Array<number>(count).fill(version));
      const headers = versions.map((version, n) => ({
        ...header,
        user: new Uint8Array(32).fill(n) as UserId,
        entry: new Uint8Array(32).fill(version),
      }));
      const oneShot = { ...oneShotOf(world.policy), versionMinimum };
      return batchProblem({ ...world.policy, bufferSize: 40, minimum: 8, oneShot }, headers);
    };
    for (const counts of [[10], [5, 5], [3, 4, 3], Array<number>(8).fill(3)]) expect(mixed(3, counts)).toBeUndefined();
    expect(mixed(3, [8, 2])).toMatchObject({ reason: 'batch-invalid', slots: [8, 9] });
    expect(mixed(3, [2, 8])).toMatchObject({ reason: 'batch-invalid', slots: [0, 1] });
    expect(mixed(3, Array<number>(9).fill(3))?.detail).toContain('more than 8 versions');
    for (const one of [undefined, 8]) {
      expect(mixed(one, [10])).toBeUndefined();
      expect(mixed(one, [8, 8])).toMatchObject({ reason: 'batch-invalid' });
    }
  });

  it('needs t authorities that all uploads name', () => {
    const { world, shots } = inspected({}, 3);
    const headers = headersOf(shots);
    const naming = (...named: readonly number[][]) =>
      headers.map((header, n) => ({
        ...header,
        epochs: header.epochs.filter(({ authority }) => (named[n] as number[]).includes(authority)),
      }));
    const all = [0, 1, 2, 3];
    expect(batchProblem(world.policy, naming(all, all, [0, 1, 2]))).toBeUndefined();
    expect(batchProblem(world.policy, naming(all, [1, 2, 3], [0, 1, 2]))).toMatchObject({ reason: 'batch-invalid' });
    expect(batchProblem({ ...world.policy, oneShot: undefined }, headers)).toMatchObject({ reason: 'batch-invalid' });
  });
});

describe('an authority', () => {
  it('votes for an upload once: the second batch is told the first, also after a restart [S2]', () => {
    const { world, shots, batch } = inspected({}, 4);
    const { server } = world;
    expect(granted(server.voteBy(0, batch)).vote?.endorsements).toHaveLength(1);
    const other = server.batch(shots.slice(1));
    expect(server.voteBy(0, other)).toEqual({ vote: undefined, held: batch });
    reloaded(world.authority(0));
    server.inspectBy(0, shots);
    expect(server.voteBy(0, other)).toEqual({ vote: undefined, held: batch });
    expect(granted(server.voteBy(0, batch)).vote?.endorsements).toHaveLength(1);
  });

  it('votes for a list, not for a set: no other order, and no other number [S3]', () => {
    const { world, batch } = inspected();
    const { server } = world;
    server.voteBy(0, batch);
    expect(server.voteBy(0, { ...batch, uploads: [...batch.uploads].reverse() })).toMatchObject({ held: batch });
    expect(server.voteBy(0, { ...batch, number: 7 })).toMatchObject({ vote: undefined, held: batch });
  });

  it('that knows a batch as final votes for no other with one of its uploads [S2]', () => {
    const { world, shots, batch } = inspected({}, 4);
    const { server } = world;
    const first = { ...batch, uploads: batch.uploads.slice(0, 3) };
    const votes = server.votes(first, [0, 1, 2]);
    expect(isRefused(server.releaseBy(3, first, { votes }))).toBe(false);
    expect(server.voteBy(3, server.batch(shots.slice(1)))).toMatchObject({ vote: undefined, held: first });
  });

  it('takes one update per device and version, whatever its tag [S17]', () => {
    const { world, shots, devices } = voted();
    const { server } = world;
    const second = forged(devices[0] as ShotDevice, shots[0] as StoredShot, {
      joinTag: world.randomBytes(16) as never,
    });
    // Its parts are sealed under another tag, so this authority would find them bad; the rule holds without that.
    takenForGood(world, 0, second);
    world.contributed(2);
    const fresh = server.shots.slice(-2);
    server.inspect(fresh);
    expect(server.voteBy(0, server.batch([second, ...fresh]))).toMatchObject({ reason: 'upload-used', slots: [0] });
  });

  it('votes for nothing that it has not examined since it started, and says which', () => {
    const { world, shots, batch } = inspected();
    const { server } = world;
    reloaded(world.authority(0));
    server.inspectBy(0, [shots[1] as StoredShot]);
    expect(server.voteBy(0, batch)).toMatchObject({ reason: 'not-inspected', slots: [0, 2] });
  });

  it('votes and releases only for the server of the task', () => {
    const { world, batch } = voted();
    const signer = world.signer();
    expect(reasonOf(world.server.voteBy(0, batch, { signer }))).toBe('server-unknown');
    expect(reasonOf(world.server.releaseBy(0, batch, { signer }))).toBe('server-unknown');
  });
});

describe('a release', () => {
  it('needs t votes of different authorities for this batch [S16]', () => {
    const { world, shots, batch, votes } = voted();
    const { server } = world;
    const release = (some: Parameters<typeof server.releaseBy>[2]) => server.releaseBy(0, batch, some);
    expect(reasonOf(release({}))).toBe('too-few-votes');
    expect(reasonOf(release({ votes: votes.slice(0, 2) }))).toBe('too-few-votes');
    expect(reasonOf(release({ votes: [...votes.slice(0, 2), { authority: 2, signature: new Uint8Array(64) }] }))).toBe(
      'too-few-votes',
    );
    const permuted: Batch = { ...batch, uploads: [...batch.uploads].reverse() };
    const reversed = [...shots].reverse().map((shot) => server.shown(shot));
    expect(reasonOf(server.releaseBy(0, permuted, { votes, uploads: reversed }))).toBe('too-few-votes');
    expect(isRefused(release({ votes: votes.slice(1) }))).toBe(false);
    // From now on it is final, and asked again the answer is the same.
    expect(isRefused(release({}))).toBe(false);
  });

  it('shows the uploads of the batch, in its order', () => {
    const { world, shots, batch, votes } = voted();
    const { server } = world;
    const uploads = shots.map((shot) => server.shown(shot));
    for (const wrong of [uploads.slice(1), [...uploads].reverse()])
      expect(reasonOf(server.releaseBy(0, batch, { votes, uploads: wrong }))).toBe('batch-invalid');
  });

  it('of a batch that an authority did not vote for is final there as well, and marks its uploads', () => {
    const { world, batch } = inspected();
    const { server } = world;
    const votes = server.votes(batch, [0, 1, 2]);
    expect(isRefused(server.releaseBy(3, batch, { votes }))).toBe(false);
    const other = { ...batch, number: batch.number + 1 };
    expect(server.voteBy(3, other)).toEqual({ vote: undefined, held: batch });
    reloaded(world.authority(3));
    granted(server.inspectBy(3, server.shots));
    expect(server.voteBy(3, other)).toEqual({ vote: undefined, held: batch });
  });

  it('with one authority is part of the vote, so the batch is final immediately', () => {
    const { world, batch } = inspected({ count: 1 });
    expect(world.server.votes(batch)).toHaveLength(1);
    expect(world.authority(0).base.log.at(-1)).toMatchObject({ kind: 'batch-final' });
    expect(isRefused(world.server.releaseBy(0, batch, { votes: [] }))).toBe(false);
  });
});
