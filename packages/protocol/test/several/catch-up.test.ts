/** An authority that was away follows the others by their signatures; what one down changes, and what two down stop. */
import {
  type Ctx,
  closeRequestOf,
  endorse,
  type ModelEntry,
  millis,
  modelEntryCodec,
  recordAbort,
  type Vote,
  voteCodec,
} from '@basa/protocol';
import { CLOSE_MS, type Federation, type FederationDevice, granted, OPEN_MS, reasonOf } from '@basa/simulator';
import {
  appendedBy,
  atSeveralCloses,
  authorityOf,
  closedBy,
  closedTogether,
  forgettingSlot,
  severalAuthorities,
  together,
  votesOf,
  withRecords,
} from '@basa/testkit/core/several.ts';
import { describe, expect, it } from 'vitest';

const ALL = [0, 1, 2, 3];

const four = (world: Federation): readonly FederationDevice[] => ALL.map(() => world.device());
const of = (ctx: Ctx) => ({ sums: [ctx], spoilt: [] });
const newestOf = (world: Federation, index: number) => authorityOf(world, index).core.newestModel(world.task);

/** The vote of these authorities for the close of the request. */
function votedFor({ world, request }: ReturnType<typeof atSeveralCloses>, indices: readonly number[]): Vote {
  return together(indices.map((index) => granted(closedBy(world, index, request)).vote));
}

describe('an authority that was away', () => {
  it('adopts the model that three others signed, and no other [R18]', () => {
    const world = severalAuthorities();
    const devices = four(world);
    world.away.add(3);
    expect(world.server.finish(world.fill(devices)).kind).toBe('good');
    expect([newestOf(world, 0)?.version, newestOf(world, 3)?.version]).toEqual([1, 0]);
    const entry = newestOf(world, 0) as ModelEntry;
    const before = newestOf(world, 3) as ModelEntry;
    expect(before.previous).toEqual(new Uint8Array(32));
    expect(entry.previous).toEqual(modelEntryCodec.statementHash(world.authority.ports.suite, before));
    const authority = authorityOf(world, 3);
    const short = { ...entry, endorsements: entry.endorsements.slice(1) };
    expect(reasonOf(authority.core.adoptModel(short).answer)).toBe('model-not-logged');
    expect(reasonOf(authority.core.adoptModel({ ...entry, version: 2 }).answer)).toBe('model-not-logged');
    expect(authority.adoptModel(modelEntryCodec.encode(entry))).toEqual(entry);
    expect(newestOf(world, 3)).toEqual(entry);
    // Said twice, it is written once; an older one changes nothing.
    expect(authority.core.adoptModel(entry).records).toEqual([]);
    expect(reasonOf(authority.core.adoptModel({ ...entry, modelHash: new Uint8Array(32) }).answer)).toBe(
      'model-not-logged',
    );
    const first = authorityOf(world, 0).core.model(world.task, 0) as ModelEntry;
    expect(authority.core.adoptModel(first)).toMatchObject({ records: [], answer: entry });
  });

  it('has a part again in the next buffer, even if nobody told it of the model', () => {
    const world = severalAuthorities();
    const devices = four(world);
    world.away.add(3);
    world.server.finish(world.fill(devices));
    world.away.clear();
    for (const device of devices) device.newUpdate();
    const ctx = world.fill(devices);
    expect(world.server.buffer(ctx).descriptor.parts).toHaveLength(4);
    expect(newestOf(world, 3)?.version).toBe(1);
    expect(world.server.finish(ctx).kind).toBe('good');
    expect(newestOf(world, 3)?.version).toBe(2);
  });

  it('gives no key of a slot in a buffer whose version it logged', () => {
    const scene = atSeveralCloses();
    const { world, ctx, devices } = scene;
    withRecords(world, 3, forgettingSlot(ctx, 3));
    const next = {
      version: 1,
      modelHash: new Uint8Array(32).fill(5),
      ...of(ctx),
      closed: [votedFor(scene, [0, 1, 2])],
    };
    const entry = together([0, 1, 2].map((n) => granted(appendedBy(world, n, next))));
    const { core, issueKey } = authorityOf(world, 3);
    core.apply(core.adoptModel(entry).records);
    const asked = (devices[3] as FederationDevice).keyRequestBytes();
    expect(issueKey.call(authorityOf(world, 3), asked)).toMatchObject({ reason: 'buffer-not-open' });
  });

  it('signs the next model by the votes of three for its buffer, which it does not know', () => {
    const world = severalAuthorities();
    const devices = four(world);
    world.away.add(3);
    const ctx = world.fill(devices);
    granted(world.server.freeze(ctx));
    const request = granted(closeRequestOf(world.server.ports, world.server.buffer(ctx)));
    const vote = together([0, 1, 2].map((n) => granted(closedBy(world, n, request)).vote));
    const next = { version: 1, modelHash: new Uint8Array(32).fill(5), ...of(ctx) };
    const appended = (closed: readonly Vote[]) => appendedBy(world, 3, { ...next, closed });
    expect(reasonOf(appended([]))).toBe('buffer-unknown');
    expect(reasonOf(appended([{ ...vote, endorsements: vote.endorsements.slice(1) }]))).toBe('buffer-unknown');
    expect(reasonOf(appended([{ ...vote, ctx: new Uint8Array(32) as never }]))).toBe('buffer-unknown');
    const other = new Uint8Array(32).fill(1) as never;
    for (const change of [{ task: other }, { ctx: other }]) {
      const body = { ...vote, ...change };
      const elsewhere = together(
        [0, 1, 2].map((n) => endorse(voteCodec, world.policy, authorityOf(world, n).ports.signer, body)),
      );
      expect(reasonOf(appended([elsewhere]))).toBe('buffer-unknown');
    }
    expect(granted(appended([vote])).endorsements.map(({ authority }) => authority)).toEqual([3]);
  });

  it('signs no model by its own vote without a record of it: it lost its log and gave the buffer up', () => {
    const scene = atSeveralCloses();
    const { world, ctx } = scene;
    const next = { version: 1, modelHash: new Uint8Array(32).fill(5), ...of(ctx) };
    const closed = [votedFor(scene, [0, 1, 3])];
    withRecords(world, 3, (record) => (record.kind === 'buffer-voted' ? [] : [record]));
    expect(reasonOf(appendedBy(world, 3, { ...next, closed }))).toBe('buffer-not-closed');
    granted(appendedBy(world, 0, { ...next, closed }));
    granted(appendedBy(world, 3, { ...next, closed: [votedFor(scene, [0, 1, 2])] }));
  });

  it('closes a buffer in which it has a part by the votes of three, without its own vote', () => {
    const { world, ctx, request } = atSeveralCloses();
    const votes = votesOf(world, [0, 1, 2], request);
    expect(granted(closedBy(world, 3, request, { votes })).keys).toHaveLength(4);
    expect(authorityOf(world, 3).outcome(ctx).status).toBe('closed');
    expect(authorityOf(world, 3).records.map(({ kind }) => kind)).not.toContain('buffer-voted');
  });
});

describe('an authority that missed the close of a buffer', () => {
  it.each([
    ['before its vote', false],
    ['after its vote', true],
  ])('%s holds it no longer once a version was made of it, does not abort it, and gives no key of it', (_, isVoted) => {
    const scene = atSeveralCloses();
    const { world, ctx, request } = scene;
    const { version, modelHash } = { version: 1, modelHash: new Uint8Array(32).fill(5) };
    const votes = votesOf(world, isVoted ? ALL : [0, 1, 2], request);
    const closed = [votedFor(scene, [0, 1, 2])];
    const entry = together(
      [0, 1, 2].map((n) => granted(appendedBy(world, n, { version, modelHash, ...of(ctx), closed }))),
    );
    const away = authorityOf(world, 3);
    expect(away.core.openBuffers).toBe(1);
    granted(away.adoptModel(modelEntryCodec.encode(entry)));
    expect(away.core.openBuffers).toBe(0);
    world.now = millis(world.now + OPEN_MS + CLOSE_MS);
    expect(away.core.tick(world.now).records).toEqual([]);
    expect(away.outcome(ctx).status).toBe('open');
    expect(reasonOf(closedBy(world, 3, request, { votes: votes.slice(0, 3) }))).toBe('buffer-over');
    away.restart();
    expect(away.core.openBuffers).toBe(0);
  });
});

describe('a model', () => {
  it('is signed once for a version, and stands in the log when three signed it', () => {
    const scene = atSeveralCloses();
    const { world, ctx } = scene;
    const closed = [votedFor(scene, [0, 1, 2])];
    const next = { version: 1, modelHash: new Uint8Array(32).fill(5), ...of(ctx), closed };
    const entry = granted(appendedBy(world, 0, next));
    expect(authorityOf(world, 0).records.at(-1)?.kind).toBe('model-signed');
    expect(newestOf(world, 0)?.version).toBe(0);
    expect(appendedBy(world, 0, next)).toEqual(entry);
    expect(reasonOf(appendedBy(world, 0, { ...next, modelHash: new Uint8Array(32).fill(6) }))).toBe('other-model');
    authorityOf(world, 0).restart();
    expect(reasonOf(appendedBy(world, 0, { ...next, modelHash: new Uint8Array(32).fill(6) }))).toBe('other-model');
    expect(reasonOf(appendedBy(world, 0, { ...next, version: 2 }))).toBe('wrong-version');
    const whole = together([entry, ...[1, 2].map((n) => granted(appendedBy(world, n, next)))]);
    for (const index of ALL) granted(authorityOf(world, index).adoptModel(modelEntryCodec.encode(whole)));
    expect(newestOf(world, 3)).toEqual(whole);
    expect(reasonOf(appendedBy(world, 0, { ...next, version: 2 }))).toBe('buffer-used');
  });

  it('of a buffer that is not closed here needs the votes of three', () => {
    const scene = atSeveralCloses();
    const { world, ctx, request } = scene;
    const next = { version: 1, modelHash: new Uint8Array(32).fill(5), ...of(ctx) };
    granted(closedBy(world, 3, request));
    expect(reasonOf(appendedBy(world, 3, { ...next, closed: [] }))).toBe('buffer-not-closed');
    expect(reasonOf(appendedBy(world, 3, { ...next, closed: [votedFor(scene, [0, 1])] }))).toBe('buffer-not-closed');
    granted(appendedBy(world, 3, { ...next, closed: [votedFor(scene, [0, 1, 2])] }));
  });
});

describe('an outcome', () => {
  /** The device of slot 3 has its upload ready, which is in no close. */
  function leftOut() {
    const scene = atSeveralCloses();
    const device = scene.devices[3] as FederationDevice;
    device.receiveKeyAndFreeze('upload');
    return { ...scene, device };
  }

  it('below three alike stays undecided: the update moves nowhere [R12]', () => {
    const { world, ctx, request, device } = leftOut();
    expect(reasonOf(device.release())).toBe('outcome-undecided');
    votesOf(world, [0, 1], request);
    world.now = millis(world.now + OPEN_MS + CLOSE_MS);
    // Two aborted, two voted: nobody knows.
    expect(reasonOf(device.release())).toBe('outcome-undecided');
    const outcomes = ALL.map((authority) => ({ authority, outcome: authorityOf(world, authority).outcome(ctx) }));
    const { ports } = world.server;
    expect(reasonOf(recordAbort(ports, world.server.buffer(ctx), outcomes).answer)).toBe('outcome-undecided');
    const aborted = outcomes.filter(({ outcome }) => outcome.status === 'aborted');
    const repeated = [...aborted, ...aborted].map((one) => ({ ...one, authority: 2 }));
    expect(reasonOf(recordAbort(ports, world.server.buffer(ctx), repeated).answer)).toBe('outcome-invalid');
  });

  it('of three that aborted frees it, with the fourth away', () => {
    const { world, request, device } = leftOut();
    votesOf(world, [0], request);
    world.away.add(0);
    world.now = millis(world.now + OPEN_MS + CLOSE_MS);
    expect(device.release()).toEqual({ kind: 'free' });
  });

  it('of three that closed without it frees it, and updates in the sum stay there', () => {
    const { world, request, device, devices } = leftOut();
    const votes = votesOf(world, [0, 1, 2], request);
    for (const index of [0, 1]) granted(closedBy(world, index, request, { votes }));
    expect(reasonOf(device.release())).toBe('outcome-undecided');
    granted(closedBy(world, 2, request, { votes }));
    expect(device.release()).toEqual({ kind: 'free' });
    expect((devices[0] as FederationDevice).release()).toEqual({ kind: 'included' });
  });

  it('of a lying authority counts once, and is worth nothing without the others', () => {
    const { world, device } = leftOut();
    world.away.add(1).add(2);
    world.now = millis(world.now + OPEN_MS + CLOSE_MS);
    expect(reasonOf(device.release())).toBe('outcome-undecided');
    world.away.delete(1);
    expect(device.release()).toEqual({ kind: 'free' });
  });
});

describe('with two of four away', () => {
  it('no buffer is drawn, with a clear reason, until one of them is back', () => {
    const world = severalAuthorities();
    const device = world.device();
    world.away.add(0).add(1);
    expect(() => device.contribute()).toThrow('refused: plan-invalid');
    world.away.delete(0);
    expect(device.contribute()).toEqual({ kind: 'accepted' });
  });

  it('no key is given, and the device continues when one of them is back', () => {
    const world = severalAuthorities();
    const device = world.device();
    granted(device.contribute('deposit'));
    world.away.add(0).add(1);
    expect(device.contribute()).toMatchObject({ reason: 'key-invalid', detail: 'too few authorities are there' });
    world.away.delete(1);
    expect(device.contribute()).toEqual({ kind: 'accepted' });
  });

  it('no buffer is closed, nothing is lost, and it is closed and opened when one of them is back [R23]', () => {
    const { world, ctx } = atSeveralCloses();
    const some = (indices: readonly number[]) =>
      closedTogether(world, ctx, (request) => indices.map((n) => [n, closedBy(world, n, request)]));
    expect(some([2, 3])).toMatchObject({ reason: 'too-few-votes', detail: '2 of 3' });
    expect(world.server.buffer(ctx).status).toBe('frozen');
    world.away.add(0).add(1);
    expect(() => world.server.finish(ctx, 'stalled')).toThrow('too-few-votes');
    world.away.delete(0);
    expect(world.server.finish(ctx, 'stalled')).toMatchObject({ kind: 'good', sum: Uint32Array.of(1, 1, 1, 0) });
  });

  it('a close whose votes are there and whose keys are not is asked for again', () => {
    const { world, ctx } = atSeveralCloses();
    const no = closedTogether(world, ctx, (request) =>
      (request.votes.length === 0 ? [0, 1, 2] : [0, 1]).map((n) => [n, closedBy(world, n, request)]),
    );
    expect(no).toMatchObject({ reason: 'too-few-votes', detail: 'too few authorities released their keys' });
    expect(world.server.finish(ctx, 'stalled').kind).toBe('good');
  });
});
