/** Each rollback begins one branch, and no branch ever keeps the next version from its signatures. */
import { type Ctx, type Epoch, isRefused, type LiveEpoch, type ModelEntry, modelAppendCodec } from '@basa/protocol';
import { granted, type ShotAuthority } from '@basa/simulator';
import { reloaded } from '@basa/testkit/core/one-shot/shot-requests.ts';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';

const HALF_EPOCH_MS = 1_800_000;

interface Asked {
  readonly version: number;
  readonly modelHash: Uint8Array;
  readonly sums: readonly Ctx[];
}

function append(world: ShotWorld, index: number, asked: Asked): string {
  const { base } = world.authority(index);
  const body = { task: world.task, ...asked, spoilt: [], closed: [] };
  const signature = world.server.signer.sign(modelAppendCodec.statement(body));
  const answer = base.persist(base.core.appendModel({ ...body, signature }));
  return isRefused(answer) ? answer.reason : 'signed';
}

/** A batch of three new devices that every authority released. */
function closedSum(world: ShotWorld): Ctx {
  const { server } = world;
  const before = server.shots.length;
  world.contributed(3);
  const shots = server.shots.slice(before);
  server.inspect();
  const batch = server.batch(shots);
  const votes = server.votes(batch);
  for (const index of world.indices) granted(server.releaseBy(index, batch, { votes }));
  return server.closing(batch).ctx;
}

describe('several authorities that were rolled back', () => {
  function rolledBack(world: ShotWorld, index: number): void {
    const { base } = world.authority(index);
    base.persist(base.core.start(undefined, world.randomBytes(16), world.now));
    world.authority(index).tick();
  }

  it('sign no version without sums, which would take the signatures from the next version', () => {
    const world = new ShotWorld();
    rolledBack(world, 0); // before the newest version
    world.append({ sums: [closedSum(world)], spoilt: [] });
    for (const index of [1, 2]) rolledBack(world, index);
    const { modelHash } = world.server.models[1] as ModelEntry;
    const atAll = (asked: Asked) => world.indices.map((index) => append(world, index, asked));
    expect(atAll({ version: 2, modelHash, sums: [] })).toEqual(Array(4).fill('buffer-unknown'));
    const sums = [closedSum(world)];
    expect(atAll({ version: 2, modelHash: new Uint8Array(32).fill(3), sums })).toEqual(Array(4).fill('signed'));
  });
});

describe('an authority that lost epochs', () => {
  /** The step is decided in a draft, as in a service. */
  function meet(world: ShotWorld, { base }: ShotAuthority, epoch: Epoch): boolean {
    const step = base.core.draft().meetEpoch(epoch, world.randomBytes(16), world.now);
    return granted(base.persist(step)).rolledBack;
  }

  /** Three epochs of a lost life of its log; a copy from before them is restored a moment later. */
  function restored(world: ShotWorld): readonly Epoch[] {
    const authority = world.authority(0);
    const image = [...authority.base.log];
    const lost = [1, 2, 3].map(() => {
      world.pass(HALF_EPOCH_MS);
      authority.tick();
      return (authority.base.core.liveEpochs.at(-1) as LiveEpoch).epoch;
    });
    reloaded(authority, image);
    world.pass(1);
    return lost;
  }

  it('begins one branch, and allows one version without sums, however many lost epochs the server shows', () => {
    const world = new ShotWorld({ count: 1 });
    world.contributed(1);
    const authority = world.authority(0);
    const { base } = authority;
    const { modelHash } = world.server.models[0] as ModelEntry;
    const lost = restored(world);
    const shown = lost.map((epoch, n) => {
      const isRolledBack = meet(world, authority, epoch);
      authority.tick();
      reloaded(authority); // the rule follows from the records
      return [isRolledBack, base.core.liveEpochs.length, append(world, 0, { version: n + 1, modelHash, sums: [] })];
    });
    expect(shown).toEqual([
      [true, 1, 'signed'],
      [false, 1, 'buffer-unknown'],
      [false, 1, 'wrong-version'],
    ]);
    const counted = (kind: string): number => base.log.filter((entry) => entry.kind === kind).length;
    expect([counted('branch-begun'), counted('epoch-ended')]).toEqual([1, 1 + lost.length]);
    // Each of them is met once.
    for (const epoch of lost) meet(world, authority, epoch);
    expect(counted('epoch-ended')).toBe(1 + lost.length);
  });

  it('begins another branch if an epoch of the current one is missing too', () => {
    const world = new ShotWorld({ count: 1 });
    world.contributed(1);
    const authority = world.authority(0);
    const { base } = authority;
    expect(meet(world, authority, restored(world)[0] as Epoch)).toBe(true);
    const image = [...base.log];
    authority.tick(); // in the same millisecond in which the branch began
    const { epoch } = base.core.liveEpochs.at(-1) as LiveEpoch;
    reloaded(authority, image);
    world.pass(1);
    expect(meet(world, authority, epoch)).toBe(true);
  });
});
