/** Sums of masks: who sums what, which sum counts, and that no seed outlives its sum. */
import { granted } from '@basa/protocol';
import { addMasksInPlace, packSum } from '@basa/protocol/internal/one-shot/parts.ts';
import { agreedSum, batchVote, type MaskSumOf, sumPlan } from '@basa/protocol/internal/one-shot/server.ts';
import { endorse } from '@basa/protocol/internal/wire/council.ts';
import { MaskSum, Vote } from '@basa/protocol/wire';
import { plainTools } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';
import { inspected, voted } from './scene.ts';

function released() {
  const scene = voted();
  const { world, batch, votes } = scene;
  const wanted = [{ part: 1, vector: false }];
  const sums = [1, 2, 3].map((authority): MaskSumOf => {
    const { answer } = granted(world.server.releaseBy(authority, batch, { votes, wanted }));
    return { authority, sum: answer.sums[0] as MaskSumOf['sum'] };
  });
  return { ...scene, sums, closing: world.server.closing(batch) };
}

describe('a sum of masks', () => {
  it('counts when f + 1 holders signed the same hash [S10]', () => {
    const { world, sums, closing } = released();
    const [first, second, third] = sums as [MaskSumOf, MaskSumOf, MaskSumOf];
    const { hash } = first.sum;
    const wrong = (one: MaskSumOf): MaskSumOf => {
      const body = { ...one.sum, hash: new Uint8Array(32) };
      const { signer } = world.authority(one.authority).base.ports;
      return { ...one, sum: { ...body, signature: signer.sign(MaskSum.statement(body)) } };
    };
    expect(agreedSum(closing, 1, [first])).toBeUndefined();
    expect(agreedSum(closing, 1, [first, first])).toBeUndefined();
    expect(agreedSum(closing, 1, [first, wrong(second)])).toBeUndefined();
    expect(agreedSum(closing, 1, [wrong(first), second, third])).toEqual(hash);
    expect(agreedSum(closing, 2, sums)).toBeUndefined();
  });

  it('counts only under its key, for its batch and from a holder', () => {
    const { world, sums, closing } = released();
    const [first, second] = sums as [MaskSumOf, MaskSumOf];
    const signedBy = (authority: number, change: object): MaskSumOf => {
      const body = { ...second.sum, ...change };
      const { signer } = world.authority(authority).base.ports;
      return { authority, sum: { ...body, signature: signer.sign(MaskSum.statement(body)) } };
    };
    const other = new Uint8Array(32).fill(1) as never;
    for (const bad of [
      { ...second, authority: 3 },
      { ...second, authority: 9 },
      signedBy(0, {}),
      signedBy(2, { task: other }),
      signedBy(2, { ctx: other }),
    ])
      expect(agreedSum(closing, 1, [first, bad])).toBeUndefined();
    expect(agreedSum(closing, 1, [first, signedBy(2, {})])).toEqual(first.sum.hash);
  });

  it('is planned at f + 1 holders of each part, one of which sends the vector, without holders that failed', () => {
    const { world, batch } = inspected();
    const closing = world.server.closing(batch);
    for (const without of [[], [0], [1], [2], [3]]) {
      const plan = sumPlan(closing, 5, without) as NonNullable<ReturnType<typeof sumPlan>>;
      for (const part of [1, 2, 4, 8]) {
        const asked = plan.flatMap(({ authority, wanted }) =>
          wanted.filter((one) => one.part === part).map(({ vector }) => ({ authority, vector })),
        );
        expect(asked).toHaveLength(2);
        expect(asked.filter(({ vector }) => vector)).toHaveLength(1);
        for (const { authority } of asked) {
          expect(part).not.toBe(1 << authority);
          expect(without).not.toContain(authority);
        }
      }
    }
    expect(sumPlan(closing, 5, [0, 1])).toBeUndefined();
  });

  it('is the same for every division of the batch, and overwrites its seeds', () => {
    const { world, shots } = inspected();
    const tools = plainTools();
    const { suite } = tools;
    const seedsOf = () => shots.map((_, n) => new Uint8Array(32).fill(n + 1));
    const masked = (seeds: readonly Uint8Array[]) =>
      seeds.map((seed, n) => ({ name: shots[n]?.upload.header as never, seed }));
    const seeds = seedsOf();
    const whole = new Uint32Array(13);
    addMasksInPlace(whole, { suite, tools }, world.policy, 4, masked(seeds));
    expect(seeds.every((seed) => seed.every((byte) => byte === 0))).toBe(true);
    const pieces = new Uint32Array(13);
    for (const one of masked(seedsOf())) addMasksInPlace(pieces, { suite, tools }, world.policy, 4, [one]);
    expect(pieces).toEqual(whole);
    const otherPart = new Uint32Array(13);
    addMasksInPlace(otherPart, { suite, tools }, world.policy, 8, masked(seedsOf()));
    expect(packSum(otherPart, world.policy, tools)).not.toEqual(packSum(whole, world.policy, tools));
  });
});

describe('the server', () => {
  it('counts a vote for this batch, of the authority that it asked', () => {
    const { world, batch } = inspected();
    const vote = granted(world.server.voteBy(0, batch));
    const closing = world.server.closing(batch);
    expect(batchVote(closing, 0, vote)).toHaveLength(1);
    const other = new Uint8Array(32) as never;
    const { signer } = world.authority(0).base.ports;
    expect(batchVote(closing, 1, vote)).toEqual([]);
    for (const change of [{ task: other }, { ctx: other }])
      expect(batchVote(closing, 0, endorse(Vote, world.policy, signer, { ...vote, ...change }))).toEqual([]);
    expect(batchVote({ ...closing, ctx: other }, 0, vote)).toEqual([]);
  });
});
