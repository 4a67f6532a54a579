/**
 * Algorithm 1 of the paper (BASA-Server): comments name its lines. One user at a time holds position k, under a lease of t_out.
 * Corrected as docs/paper-map.md lists: positions are 0 .. K-1, a time-out skips lines 13-20, and after line 22 a fresh buffer begins.
 *
 *     free --connect (8)--> leased --upload (13)--> free at k + 1, until k = K: full (21)
 *       ^---- t_out (10) ----/
 *
 * UNSAFE outside experiments: a key that was issued cannot be taken back, and a time-out gives the position to another user
 * (attacks A1 to G1 of the threat model). It exists to reproduce the paper and to be attacked by our tests.
 */
import { equalBytes, type Signer, type Suite } from '@basa/masking';
import type { Ctx, Millis, Position, UserId } from '../wire/fields.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { type PaperConnection, PaperTicket, type PaperUpload, paperAttribute } from './messages.ts';

/** Line 1. */
export interface PaperOptions {
  /** K. */
  readonly bufferSize: number;
  /** t_out. */
  readonly leaseMs: number;
}

/** The state of the loop. The caller keeps the running sum, because it is a vector. */
export interface PaperBuffer {
  readonly options: PaperOptions;
  /** Fresh for every buffer: the attributes A = {a_k | k < K} are derived from it, so that no key outlives its buffer. */
  readonly ctx: Ctx;
  /** t: the version of the model when the buffer was opened. */
  readonly version: number;
  /** k: uploads taken so far. */
  readonly position: Position;
  /** The user that is connected, and the time at which its connection is aborted. */
  readonly lease: { readonly user: UserId; readonly until: Millis } | undefined;
  /** C_j: the ciphertexts for position j. */
  readonly inboxes: readonly (readonly Uint8Array[])[];
  /** The users that uploaded: one position per user and buffer. */
  readonly users: readonly UserId[];
  /** The sum of the staleness weights alpha_k (Algorithm 3 divides by it, or by K). */
  readonly alphaSum: number;
}

/** The buffer after a message, and its answer. Nothing of the answer may leave before the buffer is durable. */
interface Step<Answer> {
  readonly state: PaperBuffer;
  readonly answer: Answer | Refused;
}

export function unsafePaperBuffer(options: PaperOptions, ctx: Ctx, version: number): PaperBuffer {
  // Line 3: k <- 0, A <- {a_k | k < K}.
  const position = 0 as Position;
  // Lines 4-6: C_i is empty for i = 0 .. K-1 (printed: 0 to K).
  const inboxes = Array.from({ length: options.bufferSize }, () => []);
  return { options, ctx, version, position, lease: undefined, inboxes, users: [], alphaSum: 0 };
}

/** Line 8: a user connects. */
export function connectPaper(
  ports: { suite: Suite; signer: Signer },
  before: PaperBuffer,
  user: UserId,
  now: Millis,
): Step<PaperConnection> {
  const buffer = timedOut(before, now);
  const isHolder = buffer.lease !== undefined && equalBytes(buffer.lease.user, user);
  const no = isHolder ? undefined : connectProblem(buffer, user);
  if (no !== undefined) return { state: buffer, answer: no };
  const until = (now + buffer.options.leaseMs) as Millis;
  const state = isHolder ? buffer : { ...buffer, lease: { user, until } };
  return { state, answer: connectionOf(ports, buffer, user) };
}

/** One user at a time, and one position per user and buffer; the paper excludes neither. */
function connectProblem({ lease, options, position, users }: PaperBuffer, user: UserId): Refused | undefined {
  if (position >= options.bufferSize) return refused('buffer-full');
  if (lease !== undefined) return refused('lease-taken');
  return users.some((other) => equalBytes(other, user)) ? refused('second-position') : undefined;
}

/** Line 9: send A, k and C_k to the user; and t, from which the user computes alpha_k. */
function connectionOf(
  { suite, signer }: { suite: Suite; signer: Signer },
  { ctx, inboxes, options, position, version }: PaperBuffer,
  user: UserId,
): PaperConnection {
  const attributes = Array.from({ length: options.bufferSize }, (_, k) => paperAttribute(suite, ctx, k as Position));
  const body = { ctx, position, user };
  const ticket = { ...body, signature: signer.sign(PaperTicket.statement(body)) };
  return { attributes, ticket, inbox: inboxes[position] ?? [], version };
}

/** Lines 10-12: aborts an overdue connection, and returns the time of the next call. */
export function tickPaper(buffer: PaperBuffer, now: Millis): Step<{ readonly nextAt: Millis | undefined }> {
  const state = timedOut(buffer, now);
  return { state, answer: { nextAt: state.lease?.until } };
}

function timedOut(buffer: PaperBuffer, now: Millis): PaperBuffer {
  return buffer.lease !== undefined && now >= buffer.lease.until ? { ...buffer, lease: undefined } : buffer;
}

/**
 * Lines 13-22. The caller adds y_k to its running sum (line 18), unless the upload is a repeat, and puts the sum out (line 22) once the
 * buffer is full.
 */
export function acceptPaperUpload(
  before: PaperBuffer,
  user: UserId,
  upload: PaperUpload,
  now: Millis,
): Step<{ readonly kind: 'accepted'; readonly isFull: boolean; readonly isRepeat: boolean }> {
  const buffer = timedOut(before, now);
  const { inboxes, lease, options, position: k, users } = buffer;
  const earlier = users[upload.position];
  if (earlier !== undefined && equalBytes(earlier, user))
    return { state: buffer, answer: { kind: 'accepted', isFull: k === options.bufferSize, isRepeat: true } };
  // Deviates: the paper's time-out falls through to line 13; here a late upload is discarded (docs/paper-map.md).
  if (lease === undefined || !equalBytes(lease.user, user)) return { state: buffer, answer: refused('lease-over') };
  // Lines 13-14: y_k, and c_kj for j = k+1 .. K-1.
  const { alpha, ciphertexts } = upload;
  if (ciphertexts.length !== options.bufferSize - 1 - k || upload.position !== k)
    return { state: buffer, answer: refused('body-mismatch') };
  const state: PaperBuffer = {
    ...buffer,
    // Lines 15-17: C_j <- C_j u {c_kj} for j = k+1 .. K-1 (printed: to K).
    inboxes: inboxes.map((inbox, j) => (j > k ? [...inbox, ciphertexts[j - k - 1] as Uint8Array] : inbox)),
    // Line 19: k <- k + 1.
    position: (k + 1) as Position,
    lease: undefined,
    users: [...users, user],
    alphaSum: buffer.alphaSum + alpha,
  };
  // Lines 21-22: k == K.
  return { state, answer: { kind: 'accepted', isFull: state.position === options.bufferSize, isRepeat: false } };
}
