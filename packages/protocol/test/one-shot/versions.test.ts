/** A version is made of the batches that closed since the last one, each named once; spoilt ones are named and left out. */
import {
  type AuthorityRecord,
  type Batch,
  type Ctx,
  type ModelEntry,
  modelAppendCodec,
  type Vote,
} from '@basa/protocol';
import { granted, reasonOf } from '@basa/simulator';
import { reloaded } from '@basa/testkit/core/one-shot/shot-requests.ts';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';

/** Two final batches and one that too few voted for. */
function scene() {
  const world = new ShotWorld({ dimension: 9 });
  const { server } = world;
  world.contributed(9);
  server.inspect();
  const [first, second, open] = [0, 3, 6].map((at) => server.batch(server.shots.slice(at, at + 3))) as [
    Batch,
    Batch,
    Batch,
  ];
  for (const batch of [first, second]) {
    const votes = server.votes(batch);
    for (const index of world.indices) granted(server.releaseBy(index, batch, { votes }));
  }
  server.voteBy(0, open);
  const [a, b, c] = [first, second, open].map((batch) => server.closing(batch).ctx) as [Ctx, Ctx, Ctx];
  return { world, a, b, c, open };
}

function appended(
  { world }: { world: ShotWorld },
  sums: readonly Ctx[],
  spoilt: readonly Ctx[] = [],
  { version = 1, modelHash = new Uint8Array(32).fill(3) as Uint8Array, closed = [] as readonly Vote[] } = {},
) {
  const body = { task: world.task, version, modelHash, sums, spoilt, closed };
  const append = { ...body, signature: world.server.signer.sign(modelAppendCodec.statement(body)) };
  return world.authority(0).base.core.appendModel(append).answer;
}

describe('a version', () => {
  it('of only spoilt batches repeats the parameters of the version before it', () => {
    const scened = scene();
    const { world, a, b, c } = scened;
    const { modelHash } = world.server.models[0] as ModelEntry;
    expect(reasonOf(appended(scened, [], [a]))).toBe('other-model');
    expect(reasonOf(appended(scened, [], [], { modelHash }))).toBe('buffer-unknown');
    expect(reasonOf(appended(scened, [], [a, a], { modelHash }))).toBe('buffer-used');
    expect(reasonOf(appended(scened, [], [c], { modelHash }))).toBe('buffer-not-closed');
    expect(granted(appended(scened, [], [a, b], { modelHash }))).toMatchObject({ sums: [], spoilt: [a, b] });
  });

  it('names final batches, each once', () => {
    const scened = scene();
    const { a, b, c } = scened;
    expect(reasonOf(appended(scened, []))).toBe('buffer-unknown');
    expect(reasonOf(appended(scened, [a, a]))).toBe('buffer-used');
    expect(reasonOf(appended(scened, [a], [a]))).toBe('buffer-used');
    expect(reasonOf(appended(scened, [a, c]))).toBe('buffer-not-closed');
    expect(reasonOf(appended(scened, [a], [c]))).toBe('buffer-not-closed');
    expect(reasonOf(appended(scened, [a, new Uint8Array(32) as Ctx]))).toBe('buffer-unknown');
    expect(granted(appended(scened, [a, b]))).toMatchObject({ version: 1, sums: [a, b], spoilt: [] });
    expect(granted(appended(scened, [b], [a]))).toMatchObject({ version: 1, sums: [b], spoilt: [a] });
  });

  it('may name a batch by its votes, among which the own one counts only with its record', () => {
    const scened = scene();
    const { world, c, open } = scened;
    const endorsements = world.server.votes(open, [0, 1, 2]);
    const closed = [{ task: world.task, ctx: c, closing: c, endorsements }];
    expect(granted(appended(scened, [c], [], { closed }))).toMatchObject({ sums: [c] });
    const { base } = world.authority(0);
    const isOpen = (entry: AuthorityRecord) => entry.kind === 'batch-voted' && entry.list.batch.number === open.number;
    reloaded(
      world.authority(0),
      base.log.filter((entry) => !isOpen(entry)),
    );
    expect(reasonOf(appended(scened, [c], [], { closed }))).toBe('buffer-unknown');
  });

  it('uses up the batches that it names, including spoilt ones', () => {
    const scened = scene();
    const { world, a, b } = scened;
    world.append({ sums: [a], spoilt: [b] });
    for (const sums of [[a], [b]]) expect(reasonOf(appended(scened, sums, [], { version: 2 }))).toBe('buffer-used');
    reloaded(world.authority(0));
    for (const sums of [[a], [b]]) expect(reasonOf(appended(scened, sums, [], { version: 2 }))).toBe('buffer-used');
  });

  it('is the same when it is asked for again, and another one with other sums', () => {
    const scened = scene();
    const { world, a, b } = scened;
    const authority = world.authority(0);
    const body = {
      task: world.task,
      version: 1,
      modelHash: new Uint8Array(32).fill(3),
      sums: [a],
      spoilt: [b],
      closed: [],
    };
    const append = { ...body, signature: world.server.signer.sign(modelAppendCodec.statement(body)) };
    const entry = granted(authority.base.persist(authority.base.core.appendModel(append)));
    expect(appended(scened, [a], [b])).toEqual(entry);
    for (const [sums, spoilt] of [
      [[a], []],
      [[b], [a]],
      [[a, b], []],
    ] as const)
      expect(reasonOf(appended(scened, sums, spoilt))).toBe('other-model');
  });
});
