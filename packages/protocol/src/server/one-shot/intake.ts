/** The server's checks of a one-shot upload before it accepts the body, and its use of the authorities' verdicts. */
import { equalBytes, modulusSize, type Suite, toHex } from '@basa/masking';
import type { Millis, TaskId } from '../../wire/brands.ts';
import { isCertified, userIdOf } from '../../wire/certificate.ts';
import { batchProblem } from '../../wire/one-shot/batch-rules.ts';
import type { Epoch } from '../../wire/one-shot/epoch.ts';
import type { GuardWords, Verdict } from '../../wire/one-shot/messages.ts';
import { oneShotOf, taskParts } from '../../wire/one-shot/parts.ts';
import { vouchersOf } from '../../wire/one-shot/policy.ts';
import { type ShotUpload, shotHeaderCodec, shotLayout } from '../../wire/one-shot/upload.ts';
import type { TaskPolicy } from '../../wire/policy.ts';
import { type RefusalReason, type Refused, refused } from '../../wire/refusals.ts';
import { isSigned } from '../../wire/signed.ts';

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

/** Returns the reason why the server refuses the upload; its body is then not read. */
export function shotProblem(view: IntakeView, { certificate, header, bodyBytes }: ShotUpload): Refused | undefined {
  const { suite, task, policy } = view;
  const isOfTask = equalBytes(certificate.task, task) && equalBytes(header.task, task);
  if (!isOfTask || !isCertified(suite, policy, certificate)) return refused('certificate-invalid');
  if (!equalBytes(header.user, userIdOf(suite, certificate.deviceKey))) return refused('tag-not-yours');
  if (!isSigned(suite, shotHeaderCodec, header, certificate.deviceKey)) return refused('signature-invalid');
  return versionProblem(view, header) ?? namedProblem(view, header) ?? lengthProblem(view, header, bodyBytes);
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
 * Subtracts the mask words that enough holders of each part agree on from the guard words of y; the result must be (1, 0, 0, 0) and
 * (0, 0, 0, 0). In this
 * way a broken upload is refused individually, before it enters a sum. It waits while too few authorities would vote for it, for example
 * because they count the sums of its device differently. `verdicts` come from different authorities and are about this upload.
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
