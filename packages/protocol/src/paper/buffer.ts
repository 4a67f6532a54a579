/**
 * Algorithm 1 (BASA-Server) of the paper, with its slips corrected: one user at a time holds position k under a lease.
 * UNSAFE outside experiments: a key that was issued cannot be taken back, and a time-out gives the position to another
 * (attacks A1 to G1 of the threat model). It exists to reproduce the paper and to be attacked by our tests.
 *
 *     free --connect--> leased --upload--> free at k + 1 .. until k = K: full
 *       ^------ t_out ------/
 */
import { equalBytes, type Signer, type Suite } from '@basa/masking';
import type { Attribute, Ctx, Millis, Slot, UserId } from '../wire/brands.ts';
import { paperAttribute } from '../wire/naming.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { declined, type Transition, unchanged } from '../wire/transition.ts';
import { type PaperTicket, type PaperUpload, paperTicketCodec } from './messages.ts';

export interface PaperOptions {
  /** K and t_out. */
  readonly bufferSize: number;
  readonly leaseMs: number;
}

export interface PaperBuffer {
  readonly options: PaperOptions;
  /** Fresh for every buffer: the attributes {a_k | k < K} are derived from it, so that no key outlives its buffer. */
  readonly ctx: Ctx;
  /** t: the version of the model when the buffer was opened. */
  readonly version: number;
  /** k: uploads taken so far. */
  readonly position: Slot;
  readonly lease?: { readonly user: UserId; readonly until: Millis };
  /** C_j: ciphertexts for position j. */
  readonly inboxes: readonly (readonly Uint8Array[])[];
  /** The users that uploaded: one position per user and buffer. */
  readonly users: readonly UserId[];
  /** Sum of the staleness weights alpha_k. */
  readonly alphaSum: number;
}

export type PaperRecord =
  | { readonly kind: 'leased'; readonly user: UserId; readonly until: Millis }
  | { readonly kind: 'timed-out' }
  | {
      readonly kind: 'uploaded';
      readonly user: UserId;
      readonly alpha: number;
      readonly ciphertexts: readonly Uint8Array[];
    };

/** The message to a connecting user: attributes, k, C_k and t. */
export interface PaperConnection {
  readonly attributes: readonly Attribute[];
  readonly ticket: PaperTicket;
  readonly inbox: readonly Uint8Array[];
  readonly version: number;
}

type Step<Answer> = Transition<PaperBuffer, PaperRecord, Answer>;

export function unsafePaperBuffer(options: PaperOptions, ctx: Ctx, version: number): PaperBuffer {
  const inboxes = Array.from({ length: options.bufferSize }, () => []);
  return { options, ctx, version, position: 0 as Slot, inboxes, users: [], alphaSum: 0 };
}

export function restorePaperBuffer(fresh: PaperBuffer, records: readonly PaperRecord[]): PaperBuffer {
  return records.reduce(evolve, fresh);
}

/** Algorithm 1, lines 8-12. */
export function connectPaper(
  ports: { suite: Suite; signer: Signer },
  before: PaperBuffer,
  user: UserId,
  now: Millis,
): Step<PaperConnection> {
  const timedOut = timeOutRecords(before, now);
  const buffer = timedOut.reduce(evolve, before);
  const held = buffer.lease;
  if (held !== undefined && equalBytes(held.user, user)) {
    return { ...unchanged(buffer, connectionOf(ports, buffer, user)), records: timedOut };
  }
  const no = connectProblem(buffer, user);
  if (no !== undefined) return { ...declined(buffer, no), records: timedOut };
  const leased: PaperRecord = { kind: 'leased', user, until: (now + buffer.options.leaseMs) as Millis };
  return {
    state: evolve(buffer, leased),
    records: [...timedOut, leased],
    answer: connectionOf(ports, buffer, user),
    events: [{ kind: 'slot-assigned', ctx: buffer.ctx, slot: buffer.position }],
  };
}

function connectionOf(
  { suite, signer }: { suite: Suite; signer: Signer },
  { ctx, inboxes, options, position, version }: PaperBuffer,
  user: UserId,
): PaperConnection {
  const body = { ctx, slot: position, user };
  return {
    attributes: Array.from({ length: options.bufferSize }, (_, k) => paperAttribute(suite, ctx, k as Slot)),
    ticket: { ...body, signature: signer.sign(paperTicketCodec.statement(body)) },
    inbox: inboxes[position] ?? [],
    version,
  };
}

/** Algorithm 1, lines 13-19: the caller, who keeps the running sum, adds the vector itself; not for a repeat. */
export function acceptPaperUpload(
  before: PaperBuffer,
  user: UserId,
  upload: PaperUpload,
  now: Millis,
): Step<{ readonly kind: 'accepted'; readonly isFull: boolean; readonly isRepeat: boolean }> {
  const timedOut = timeOutRecords(before, now);
  const buffer = timedOut.reduce(evolve, before);
  const earlier = buffer.users[upload.slot];
  if (earlier !== undefined && equalBytes(earlier, user)) {
    const isFull = buffer.position === buffer.options.bufferSize;
    return { ...unchanged(buffer, { kind: 'accepted', isFull, isRepeat: true } as const), records: timedOut };
  }
  // Deviates: the paper's time-out falls through to reading y_k; here a late upload is discarded (decision 002).
  if (buffer.lease === undefined || !equalBytes(buffer.lease.user, user))
    return { ...declined(buffer, refused('lease-over')), records: timedOut };
  const expected = buffer.options.bufferSize - 1 - buffer.position;
  if (upload.ciphertexts.length !== expected || upload.slot !== buffer.position)
    return { ...declined(buffer, refused('body-mismatch')), records: timedOut };
  const uploaded: PaperRecord = { kind: 'uploaded', user, alpha: upload.alpha, ciphertexts: upload.ciphertexts };
  const state = evolve(buffer, uploaded);
  return {
    state,
    records: [...timedOut, uploaded],
    answer: { kind: 'accepted', isFull: state.position === buffer.options.bufferSize, isRepeat: false },
    events: [{ kind: 'upload-accepted', ctx: buffer.ctx, slot: buffer.position, voids: 0 }],
  };
}

/** Ends an overdue lease, and returns the time of the next call. */
export function tickPaper(buffer: PaperBuffer, now: Millis): Step<{ readonly nextAt: Millis | undefined }> {
  const records = timeOutRecords(buffer, now);
  const state = records.reduce(evolve, buffer);
  return { state, records, answer: { nextAt: state.lease?.until }, events: [] };
}

function timeOutRecords({ lease }: PaperBuffer, now: Millis): readonly PaperRecord[] {
  return lease !== undefined && now >= lease.until ? [{ kind: 'timed-out' }] : [];
}

function connectProblem({ lease, options, position, users }: PaperBuffer, user: UserId): Refused | undefined {
  if (position >= options.bufferSize) return refused('buffer-full');
  if (lease !== undefined) return refused('lease-taken');
  return users.some((other) => equalBytes(other, user)) ? refused('second-slot') : undefined;
}

function evolve(buffer: PaperBuffer, entry: PaperRecord): PaperBuffer {
  const { lease: _, ...unleased } = buffer;
  switch (entry.kind) {
    case 'leased':
      return { ...unleased, lease: { user: entry.user, until: entry.until } };
    case 'timed-out':
      return unleased;
    case 'uploaded': {
      const { position, inboxes, users, alphaSum } = buffer;
      return {
        ...unleased,
        position: (position + 1) as Slot,
        // C_j <- C_j u {c_kj} for j > k.
        inboxes: inboxes.map((inbox, j) =>
          j > position ? [...inbox, entry.ciphertexts[j - position - 1] as Uint8Array] : inbox,
        ),
        users: [...users, entry.user],
        alphaSum: alphaSum + entry.alpha,
      };
    }
  }
}
