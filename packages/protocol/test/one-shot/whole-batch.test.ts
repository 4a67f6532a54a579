/** A batch of the one-shot mode from the epoch keys to the sum: real cores, real masks. */
import { judgeSum } from '@basa/protocol/internal/one-shot/sums.ts';
import { sumRules } from '@basa/protocol/internal/wire/input.ts';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';

/** Only the words of the updates. */
function updatesOf(world: ShotWorld, total: Uint32Array, accepted: number): number[] {
  const verdict = judgeSum(sumRules(world.policy, 0), total, accepted);
  if (verdict.kind !== 'good') throw new Error(verdict.why);
  return [...verdict.sum];
}

describe.each([
  [1, 'x25519'],
  [4, 'x25519'],
  [1, 'x25519+mlkem768'],
  [4, 'x25519+mlkem768'],
] as const)('with %i authorities and the sealing %s', (count, sealing) => {
  it('the sum of a batch is exactly the sum of its inputs', () => {
    const world = new ShotWorld({ count, shot: { sealing } });
    world.contributed(4);
    const { server } = world;
    expect(server.inspect().map(({ kind }) => kind)).toEqual(['good', 'good', 'good', 'good']);
    const batch = server.batch(server.shots.slice(0, 3));
    const votes = server.votes(batch);
    expect(votes).toHaveLength(count);
    const total = server.release(batch, votes);
    expect([...total.subarray(0, 4)]).toEqual([3, 0, 0, 0]);
    expect(updatesOf(world, total, 3)).toEqual([1, 1, 1, 0, 0, 0, 0, 0]);
    expect(server.release(batch, votes)).toEqual(total);
  });
});

describe('with 3 of 4 authorities', () => {
  it.each([0, 1, 2, 3])('nothing changes if authority %i is away from the start', (absent) => {
    const world = new ShotWorld();
    world.away.add(absent);
    world.contributed(3);
    const { server } = world;
    expect(server.shots[0]?.upload.header.epochs).toHaveLength(3);
    expect(server.inspect().every(({ kind }) => kind === 'good')).toBe(true);
    const batch = server.batch();
    expect(updatesOf(world, server.release(batch, server.votes(batch)), 3)).toEqual([1, 1, 1, 0, 0, 0, 0, 0]);
  });

  it.each([0, 1, 2, 3])('nothing changes if authority %i is silent after the votes', (silent) => {
    const world = new ShotWorld();
    world.contributed(3);
    const { server } = world;
    server.inspect();
    const batch = server.batch();
    const votes = server.votes(batch);
    world.away.add(silent);
    const total = server.release(batch, votes);
    expect(updatesOf(world, total, 3)).toEqual([1, 1, 1, 0, 0, 0, 0, 0]);
  });
});
