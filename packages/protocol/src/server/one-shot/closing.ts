/** A batch at the server, from its votes to the masks that are subtracted. */
import { equalBytes, type Suite, toHex } from '@basa/masking';
import type { Ctx, TaskId } from '../../wire/brands.ts';
import { type Endorsement, isEndorsedByOne, isSignedBySeat } from '../../wire/council.ts';
import { namedByAll } from '../../wire/one-shot/batch-rules.ts';
import { type MaskSum, maskSumCodec, type WantedSum } from '../../wire/one-shot/messages.ts';
import { isHolder, oneShotOf, type Part, taskParts } from '../../wire/one-shot/parts.ts';
import { vouchersOf } from '../../wire/one-shot/policy.ts';
import type { ShotHeaderBody } from '../../wire/one-shot/upload.ts';
import type { TaskPolicy } from '../../wire/policy.ts';
import { type Vote, voteCodec } from '../../wire/vote.ts';

/** A batch that is voted for and released. */
export interface ClosingBatch {
  readonly suite: Suite;
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  readonly ctx: Ctx;
  readonly headers: readonly ShotHeaderBody[];
}

/** Returns the signature in the vote of one authority, or an empty list if the vote is not for this batch. */
export function batchVote(
  { suite, task, policy, ctx }: ClosingBatch,
  authority: number,
  vote: Vote,
): readonly Endorsement[] {
  const isOurs =
    equalBytes(vote.task, task) &&
    equalBytes(vote.ctx, ctx) &&
    isEndorsedByOne(suite, voteCodec, policy, vote, authority);
  return isOurs ? vote.endorsements : [];
}

/** The sums to request from one authority. */
export interface AskedSums {
  readonly authority: number;
  readonly wanted: readonly WantedSum[];
}

/**
 * Plans the sums: one holder of each part sends the vector, the others that must vouch for it send the hash. Holders
 * take turns by `turn`; `without` are authorities that did not answer, or answered wrongly. Undefined if too few are
 * left.
 */
export function sumPlan(
  { policy, headers }: Pick<ClosingBatch, 'policy' | 'headers'>,
  turn: number,
  without: readonly number[] = [],
): readonly AskedSums[] | undefined {
  const oneShot = oneShotOf(policy);
  const able = namedByAll(headers).filter((index) => !without.includes(index));
  const asked = new Map<number, WantedSum[]>();
  for (const [n, part] of taskParts(policy).entries()) {
    const holders = able.filter((index) => isHolder(part, index));
    const needed = vouchersOf(oneShot);
    if (holders.length < needed) return undefined;
    for (let i = 0; i < needed; i++) {
      const index = holders[(turn + n + i) % holders.length] as number;
      const own = asked.get(index) ?? [];
      own.push({ part, vector: i === 0 });
      asked.set(index, own);
    }
  }
  return [...asked].map(([authority, wanted]) => ({ authority, wanted }));
}

/** A sum of masks as one authority signed it. */
export interface MaskSumOf {
  readonly authority: number;
  readonly sum: MaskSum;
}

/** True if this authority signed it for this batch. */
export function isMaskSumOf({ suite, task, policy, ctx }: ClosingBatch, { authority, sum }: MaskSumOf): boolean {
  return (
    isHolder(sum.part, authority) &&
    equalBytes(sum.task, task) &&
    equalBytes(sum.ctx, ctx) &&
    isSignedBySeat(suite, maskSumCodec, policy, authority, sum)
  );
}

/** The hash that enough holders of the part signed identically; undefined until they have. */
export function agreedSum(batch: ClosingBatch, part: Part, sums: readonly MaskSumOf[]): Uint8Array | undefined {
  const { oneShot } = batch.policy;
  const by = new Map<string, Set<number>>();
  for (const one of sums) {
    if (one.sum.part !== part || !isMaskSumOf(batch, one)) continue;
    const name = toHex(one.sum.hash);
    const alike = by.get(name) ?? new Set<number>();
    by.set(name, alike.add(one.authority));
    if (oneShot !== undefined && alike.size >= vouchersOf(oneShot)) return one.sum.hash;
  }
  return undefined;
}
