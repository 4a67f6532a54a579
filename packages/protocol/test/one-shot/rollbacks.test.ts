/** What a rollback allows: no branch ever keeps the next version from its signatures. */
import { type Ctx, isRefused, type ModelEntry, modelAppendCodec } from '@basa/protocol';
import { granted } from '@basa/simulator';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';

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
