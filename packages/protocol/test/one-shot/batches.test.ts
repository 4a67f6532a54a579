/** The rules of a batch, its votes, and the point at which it is final. */

import { equalBytes, toHex } from '@basa/masking';
import { type Ctx, granted, isRefused, type UserId } from '@basa/protocol';
import { newestEpoch } from '@basa/protocol/internal/one-shot/epochs.ts';
import { batchProblem } from '@basa/protocol/internal/one-shot/rules.ts';
import { oneShotOf } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import { Batch, batchOf, type Epoch, epochNameOf, ReleaseRequest, type ShotHeader } from '@basa/protocol/wire';
import type { ShotDevice, StoredShot } from '@basa/simulator';
import { Crash, reasonOf } from '@basa/simulator';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { plainTools } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';
import { forged, inspected, takenForGood, voted } from './scene.ts';

const HOUR = 3_600_000;

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
    const twice = [...shots.slice(0, 3), again];
    const { uploads } = server.batch(twice);
    const own = [shots[0] as StoredShot, again].map(({ name }) => uploads.findIndex((one) => equalBytes(one, name)));
    expect(vote(twice)).toMatchObject({ reason: 'duplicate-user', uploads: [Math.max(...own)] });
    expect(batchProblem({ ...policy, bufferSize: 3 }, headersOf(shots))).toMatchObject({ reason: 'batch-invalid' });
    expect(isRefused(vote(shots))).toBe(false);
  });

  it('of two models is refused [S7]', () => {
    const { world, shots } = inspected({}, 3);
    const [first, ...rest] = headersOf(shots) as [ShotHeader];
    const rewritten = { ...first, model: new Uint8Array(32).fill(4) };
    expect(batchProblem(world.policy, [...rest, rewritten])).toMatchObject({ reason: 'batch-invalid', uploads: [2] });
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
        model: new Uint8Array(32).fill(version),
      }));
      const oneShot = { ...oneShotOf(world.policy), versionMinimum };
      return batchProblem({ ...world.policy, bufferSize: 40, minimum: 8, oneShot }, headers);
    };
    for (const counts of [[10], [5, 5], [3, 4, 3], Array<number>(8).fill(3)]) expect(mixed(3, counts)).toBeUndefined();
    expect(mixed(3, [8, 2])).toMatchObject({ reason: 'batch-invalid', uploads: [8, 9] });
    expect(mixed(3, [2, 8])).toMatchObject({ reason: 'batch-invalid', uploads: [0, 1] });
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
  it('votes for an upload once, also after a restart, and repeats its vote for the same batch [S2]', () => {
    const { world, shots, batch } = inspected({}, 4);
    const { server } = world;
    const vote = granted(server.voteBy(0, batch));
    const other = server.batch(shots.slice(1));
    const held = { reason: 'upload-used', uploads: [0, 1, 2] };
    expect(server.voteBy(0, other)).toMatchObject(held);
    world.authority(0).restart();
    expect(granted(server.inspectBy(0, shots)).verdicts.map(({ verdict, used }) => [verdict, used])).toEqual(
      Array(4).fill(['used', server.closing(batch).ctx]),
    );
    expect(server.voteBy(0, other)).toMatchObject(held);
    expect(server.voteBy(0, batch)).toEqual(vote);
  });

  it('is one for the same uploads: another order, or one of them twice, cannot be encoded or decoded [S3]', () => {
    const { batch, shots } = inspected();
    const [first, second, third] = batch.uploads as [Ctx, Ctx, Ctx];
    expect(batchOf(batch.task, [third, first, second, first])).toEqual(batch);
    expect(shots.map(({ name }) => name)).toEqual(batch.uploads);
    for (const uploads of [
      [second, first, third],
      [first, first, second],
    ])
      expect(() => Batch.encode({ ...batch, uploads })).toThrow('not ascending');
    const bytes = Batch.encode(batch);
    bytes.set(Batch.encode({ ...batch, uploads: [third] }).slice(-32), bytes.length - 96);
    expect(() => Batch.decode(bytes)).toThrow('not ascending');
  });

  it('takes one update per device and model, whatever its tag and epoch [S17]', () => {
    const { world, shots, devices } = voted();
    const { server } = world;
    world.pass((3 * HOUR) / 4);
    world.openEpochs();
    const epoch = newestEpoch(world.authority(0).view.units) as Epoch;
    const [{ upload }] = shots as [StoredShot];
    const second = forged(devices[0] as ShotDevice, shots[0] as StoredShot, {
      joinTag: world.randomBytes(16) as never,
      epochs: [epochNameOf(plainTools().suite, epoch), ...upload.header.epochs.slice(1)],
    });
    // Its parts are sealed under another tag, so this authority would find them bad; the rule holds without that.
    takenForGood(world, 0, second);
    world.contributed(2);
    const fresh = server.shots.slice(-2);
    server.inspect(fresh);
    const batch = server.batch([second, ...fresh]);
    const uploads = [batch.uploads.findIndex((name) => equalBytes(name, second.name))];
    expect(server.voteBy(0, batch)).toMatchObject({ reason: 'upload-used', uploads });
  });

  it('records each upload in the unit of its own epoch, and completes what a crash left out [S2]', () => {
    const world = new ShotWorld();
    const { server } = world;
    const authority = world.authority(0);
    world.contributed(1);
    world.pass((3 * HOUR) / 4);
    world.openEpochs();
    world.contributed(3);
    server.inspect();
    const batch = server.batch(server.shots.slice(0, 3));
    const other = server.batch(server.shots);
    const counts = () =>
      authority.view.units.map(({ statement }) => authority.units.get(toHex(statement))?.writes.length);
    const names = () =>
      authority.view.units.map(({ statement }) => authority.units.get(toHex(statement))?.writes[0]?.names.length);
    // It crashes between the two records: nothing was signed.
    world.federation.crashIn = 1;
    expect(() => server.voteBy(0, batch)).toThrow(Crash);
    expect(counts().sort()).toEqual([0, 1]);
    authority.restart();
    granted(server.inspectBy(0, server.shots));
    expect(reasonOf(server.voteBy(0, other))).toBe('upload-used');
    const vote = granted(server.voteBy(0, batch));
    expect([counts(), names()]).toEqual([
      [1, 1],
      [1, 2],
    ]);
    expect(server.voteBy(0, batch)).toEqual(vote);
    expect(counts()).toEqual([1, 1]);
  });

  it('checks revocations at the inspection and not again: a batch of uploads that were good gets every vote', () => {
    const { world, batch, devices } = inspected();
    for (const index of world.indices) {
      world.authority(index).base.revoke((devices[1] as ShotDevice).own.user);
    }
    expect(world.server.votes(batch)).toHaveLength(4);
  });
});

describe('a release', () => {
  it('counts the votes of distinct authorities: one signature twice is one vote [S16]', () => {
    const { world, batch, votes } = voted();
    const [first, second] = votes as [(typeof votes)[number], (typeof votes)[number]];
    const twice = { batch: world.server.batch(), votes: [first, second, { ...second, authority: 2 }] };
    expect(reasonOf(world.server.releaseBy(0, batch, { votes: twice.votes }))).toBe('too-few-votes');
    const names = (): Uint8Array =>
      ReleaseRequest.encode(world.server.releaseRequest(batch, { votes: [first, second, second] }));
    expect(() => ReleaseRequest.decode(names())).toThrow('not by rising index');
  });

  it('of a batch that an authority did not vote for is final there as well, and marks its uploads [S2]', () => {
    const { world, batch: all } = inspected({}, 4);
    const { server } = world;
    const batch = { ...all, uploads: all.uploads.slice(0, 3) };
    const votes = server.votes(batch, [0, 1, 2]);
    expect(isRefused(server.releaseBy(3, batch, { votes }))).toBe(false);
    const other = { ...all, uploads: all.uploads.slice(1) };
    expect(server.voteBy(3, other)).toMatchObject({ reason: 'upload-used', uploads: [0, 1] });
    world.authority(3).restart();
    granted(server.inspectBy(3, server.shots));
    expect(reasonOf(server.voteBy(3, other))).toBe('upload-used');
  });

  it('is the same whenever it is asked for, and is recorded once', () => {
    const { world, batch, votes } = voted();
    const wanted = [{ part: 2, vector: true }];
    const [unit] = world.authority(0).units.values();
    const first = granted(world.server.releaseBy(0, batch, { votes, wanted }));
    expect(unit?.writes.map(({ kind }) => kind)).toEqual(['voted', 'final']);
    world.authority(0).restart();
    expect(world.server.releaseBy(0, batch, { votes, wanted })).toEqual(first);
    expect(unit?.writes).toHaveLength(2);
  });
});
