/**
 * The server of the one-shot mode, message by message: it checks an upload (2), uses the verdicts of the authorities (3), and gathers their
 * votes (4) and their sums of masks (5). `batching.ts` chooses the uploads of a batch, `sums.ts` opens and judges a sum (6).
 *
 * Nothing here protects an update: the server is the party from which updates are hidden. These checks keep broken uploads out of sums.
 */
import { equalBytes, modulusSize, type Signer, type Suite, toHex } from '@basa/masking';
import { type Endorsement, isEndorsedByOne, isSignedBySeat, Vote } from '../wire/council.ts';
import type { Ctx, Millis, TaskId } from '../wire/fields.ts';
import { type GuardWords, MaskSum, type Verdict, type WantedSum } from '../wire/messages.ts';
import type { Epoch } from '../wire/model.ts';
import { isHolder, oneShotOf, type Part, taskParts, vouchersOf } from '../wire/one-shot-policy.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { type RefusalReason, type Refused, refused } from '../wire/refusals.ts';
import { type ShotHeaderBody, type ShotUpload, shotLayout } from '../wire/upload.ts';
import { batchProblem, namedByAll, senderProblem } from './rules.ts';

/** The outside of the server's part of the protocol. */
export interface ServerPorts {
  readonly suite: Suite;
  readonly signer: Signer;
}

/** The server's knowledge when an upload arrives. */
export interface IntakeView {
  readonly suite: Suite;
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  /** Returns a statement of an authority by its hash. */
  epoch(statement: Uint8Array): Epoch | undefined;
  /** Returns the version of a model by its name. */
  versionOf(model: Uint8Array): number | undefined;
  readonly newest: number;
  readonly now: Millis;
}

/** Message 2. Returns the reason why the server refuses the upload; its body is then not read. */
export function shotProblem(view: IntakeView, upload: ShotUpload): Refused | undefined {
  const { header } = upload;
  const problem = senderProblem(view.suite, view, upload) ?? versionProblem(view, header);
  return problem ?? namedProblem(view, header) ?? lengthProblem(view, header, upload.bodyBytes);
}

type Header = ShotUpload['header'];

function versionProblem({ policy, versionOf, newest }: IntakeView, header: Header): Refused | undefined {
  const version = versionOf(header.model);
  if (version === undefined) return refused('model-unknown');
  return newest - version > policy.maxStaleness ? refused('version-over') : undefined;
}

/** Every named epoch is open, and enough of them are named for a batch. */
function namedProblem({ policy, epoch, now }: IntakeView, header: Header): Refused | undefined {
  for (const { authority, statement } of header.epochs) {
    const named = epoch(statement);
    if (named?.authority !== authority) return refused('epoch-invalid');
    if (now >= named.closes) return refused('epoch-over');
  }
  const alone = { ...policy, minimum: 1 };
  const problem = batchProblem(alone, [header]);
  return problem && refused('epoch-invalid', { detail: problem.detail ?? problem.reason });
}

function lengthProblem({ policy }: IntakeView, { epochs }: Header, bodyBytes: number): Refused | undefined {
  const expected = shotLayout(policy, epochs).bodyBytes;
  if (bodyBytes === expected) return undefined;
  return refused('body-mismatch', { detail: `a body of ${bodyBytes} bytes instead of ${expected}` });
}

/** `undecided` until enough authorities answered. */
export type GuardVerdict =
  | { readonly kind: 'good' }
  | { readonly kind: 'bad'; readonly reason: RefusalReason }
  | { readonly kind: 'undecided' };

/**
 * Message 3. Subtracts the mask words that enough holders of each part agree on from the guard words of y; the result must be (1, 0, 0, 0) and
 * (0, 0, 0, 0). In this way a broken upload is refused individually, before it enters a sum. It waits while too few authorities would vote
 * for it, for example because they count the sums of its device differently. `verdicts` come from different authorities and are about this
 * upload.
 */
export function guardVerdict(policy: TaskPolicy, guardWords: Uint32Array, verdicts: readonly Verdict[]): GuardVerdict {
  const oneShot = oneShotOf(policy);
  const bad = verdicts.filter(({ verdict }) => verdict === 'bad');
  const [worst] = bad;
  const used = verdicts.filter(({ verdict }) => verdict === 'used');
  if (used.length > oneShot.tolerated) return { kind: 'bad', reason: 'upload-used' };
  if (worst !== undefined && bad.length > oneShot.tolerated)
    return { kind: 'bad', reason: worst.reason ?? 'part-invalid' };
  // Only these would vote for its batch. With too few votes, it would hold up the other uploads.
  if (verdicts.filter(({ verdict }) => verdict === 'good').length < policy.threshold) return { kind: 'undecided' };
  const good = verdicts.filter(({ verdict }) => verdict === 'good');
  const agreed = taskParts(policy).map((part) => agreedWords(good, part, vouchersOf(oneShot)));
  if (agreed.includes(undefined)) return { kind: 'undecided' };
  const size = modulusSize(policy.modulus);
  const left = [...guardWords].map((word, n) =>
    agreed.reduce((sum, words) => (sum + size - (words?.[n] as number)) % size, word),
  );
  const isGuard = left[0] === 1 && left.slice(1).every((word) => word === 0);
  return isGuard ? { kind: 'good' } : { kind: 'bad', reason: 'body-mismatch' };
}

/** The verdicts whose words differ from those that enough others vouch for. Nobody vouches if one authority is enough. */
export function wrongVerdicts<Given extends Verdict>(policy: TaskPolicy, verdicts: readonly Given[]): readonly Given[] {
  const vouchers = vouchersOf(oneShotOf(policy));
  const good = verdicts.filter(({ verdict }) => verdict === 'good');
  if (vouchers === 1) return [];
  const agreed = taskParts(policy).map((part) => ({ part, words: agreedWords(good, part, vouchers)?.join() }));
  return good.filter(({ guards }) =>
    agreed.some(({ part, words }) => {
      const said = guards.find((one) => one.part === part)?.words.join();
      return said !== undefined && words !== undefined && said !== words;
    }),
  );
}

/** Each verdict counts once, even if it has words of the part several times. */
function agreedWords(verdicts: readonly Verdict[], part: number, needed: number): GuardWords['words'] | undefined {
  const counts = new Map<string, number>();
  for (const { guards } of verdicts) {
    const guard = guards.find((one) => one.part === part);
    if (guard === undefined) continue;
    const name = guard.words.join();
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if ((counts.get(name) as number) >= needed) return guard.words;
  }
  return undefined;
}

/** The same statement for many uploads is shown once. */
export function distinctEpochs(view: Pick<IntakeView, 'epoch'>, headers: readonly Header[]): readonly Epoch[] {
  const found = new Map<string, Epoch>();
  for (const { epochs } of headers) {
    for (const { statement } of epochs) {
      const epoch = view.epoch(statement);
      if (epoch !== undefined) found.set(toHex(statement), epoch);
    }
  }
  return [...found.values()];
}

/** A batch that is voted for and released. */
export interface ClosingBatch {
  readonly suite: Suite;
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  readonly ctx: Ctx;
  readonly headers: readonly ShotHeaderBody[];
}

/** Message 4. Returns the signature in the vote of one authority, or an empty list if the vote is not for this batch. */
export function batchVote(
  { suite, task, policy, ctx }: ClosingBatch,
  authority: number,
  vote: Vote,
): readonly Endorsement[] {
  const isOurs =
    equalBytes(vote.task, task) && equalBytes(vote.ctx, ctx) && isEndorsedByOne(suite, Vote, policy, vote, authority);
  return isOurs ? vote.endorsements : [];
}

/** The sums to request from one authority. */
export interface AskedSums {
  readonly authority: number;
  readonly wanted: readonly WantedSum[];
}

/**
 * Message 5. Plans the sums: one holder of each part sends the vector, the others that must vouch for it send the hash. Holders
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
    isSignedBySeat(suite, MaskSum, policy, authority, sum)
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
