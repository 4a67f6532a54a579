/** The user masks its input and freezes the upload: from then on these bytes leave, or none. */
import type { MaskPlan, MaskTerm, Secret } from '@basa/masking';
import { equalBytes, packVector } from '@basa/masking';
import type { UploadHeader } from '../authority-messages.ts';
import { authorityMessages } from '../authority-messages.ts';
import type { Ctx, JoinTag, Slot } from '../brands.ts';
import type { Refused } from '../refusals.ts';
import { refused } from '../refusals.ts';
import type { Outcome } from '../statements.ts';
import { isSigned, outcomeCodec } from '../statements.ts';
import { declined, unchanged } from '../transition.ts';
import { bodyHashOf } from '../upload.ts';
import type { ToSign } from './deposit.ts';
import { inputDigestOf } from './input.ts';
import type { UploadDraft } from './key.ts';
import type { FrozenSession, SlottedSession, UserPorts, UserRecord, UserSession, UserStep } from './session.ts';
import { evolveSession, wipeSession } from './session.ts';

/** What a kernel has to do: the plan, applied to the vector in place, makes x' into y. */
export interface Masking {
  readonly kind: 'masking';
  readonly vector: Uint32Array;
  readonly plan: MaskPlan;
}

/**
 * y = x' + PRG(b) - sum_{i<l, not void} PRG(s_il) + sum_{j>l} PRG(s_lj). The input must be the one that was fixed
 * before the deposit. Works before the upload is frozen (with its draft) and again afterwards, to the same bytes.
 */
export function maskInput(
  { suite }: Pick<UserPorts, 'suite'>,
  session: UserSession,
  input: Uint32Array,
  draft?: UploadDraft,
): Masking | Refused {
  if (session.step === 'slotted' && draft !== undefined) return masking(session, session.ticket.slot, draft.earlier);
  if (session.step === 'frozen') return masking(session, session.header.slot, session.earlier);
  return refused('wrong-step');

  function masking(
    { member, self, edges }: SlottedSession | FrozenSession,
    slot: Slot,
    earlier: readonly Secret[],
  ): Masking | Refused {
    if (!equalBytes(inputDigestOf(suite, input), member.inputDigest))
      return refused('delta-committed', { detail: 'another input was fixed' });
    const terms: MaskTerm[] = [
      { seed: self, sign: 1 },
      ...earlier.map((seed): MaskTerm => ({ seed, sign: -1 })),
      ...edges.slice(slot).map((seed): MaskTerm => ({ seed, sign: 1 })),
    ];
    return {
      kind: 'masking',
      vector: input.slice(),
      plan: { modulus: member.descriptor.modulus, salt: member.ctx, terms },
    };
  }
}

/** The buffer an update was given to, if any: kept by the device, one lock for all its sessions. */
export interface DeltaCommitment {
  readonly ctx: Ctx;
  readonly joinTag: JoinTag;
}

/** `masked` is y, packed. The record marks delta -> ctx. */
export function freezeUpload(
  ports: UserPorts,
  session: UserSession,
  draft: UploadDraft,
  masked: Uint8Array,
  commitment: DeltaCommitment | undefined,
): UserStep<ToSign> {
  if (session.step !== 'slotted') return declined(session, refused('wrong-step'));
  if (commitment !== undefined && !equalBytes(commitment.ctx, session.member.ctx))
    return declined(session, refused('delta-committed'));
  const entry: UserRecord = {
    kind: 'frozen',
    receipt: draft.receipt,
    voids: draft.voids,
    bodyHash: bodyHashOf(ports.suite, masked, draft.backups),
    earlier: draft.earlier.map((seed) => seed.reveal().slice()),
    backups: draft.backups,
  };
  const state = evolveSession(ports.suite, session, entry) as FrozenSession;
  return { state, records: [entry], answer: headerToSign(state), events: [] };
}

export function headerToSign({ member, header }: FrozenSession): ToSign {
  return { statement: authorityMessages(member.descriptor.bufferSize).uploadHeader.statement(header) };
}

export function uploadHeaderMessage({ header }: FrozenSession, signature: Uint8Array): UploadHeader {
  return { ...header, signature };
}

/** y on the wire. */
export function packMasked({ member }: SlottedSession | FrozenSession, vector: Uint32Array): Uint8Array {
  return packVector(vector, member.descriptor.modulus);
}

/** The server has the bytes, durably: the seeds are not needed any more. */
export function acknowledgeUpload(ports: UserPorts, session: UserSession): UserStep<{ readonly kind: 'acknowledged' }> {
  if (session.step === 'acknowledged') return unchanged(session, { kind: 'acknowledged' });
  if (session.step !== 'frozen') return declined(session, refused('wrong-step'));
  const entry: UserRecord = { kind: 'acknowledged' };
  wipeSession(session);
  return {
    state: evolveSession(ports.suite, session, entry),
    records: [entry],
    answer: { kind: 'acknowledged' },
    events: [],
  };
}

export type Released = { readonly kind: 'free' } | { readonly kind: 'included' } | Refused;

/**
 * Whether an update given to a buffer may go elsewhere: only with the authority's word that the buffer was aborted, or
 * closed without it. A server that lies "aborted" would collect it twice and learn a difference of sums (attack I1).
 */
export function judgeOutcome(
  { suite, authorityKey }: Pick<UserPorts, 'suite' | 'authorityKey'>,
  commitment: DeltaCommitment,
  outcome: Outcome,
): Released {
  const isAuthoritys = equalBytes(outcome.ctx, commitment.ctx) && isSigned(suite, outcomeCodec, outcome, authorityKey);
  if (!isAuthoritys) return refused('outcome-invalid');
  if (outcome.status === 'aborted') return { kind: 'free' };
  if (outcome.status !== 'closed') return refused('outcome-undecided');
  return outcome.accepted.some(({ joinTag }) => equalBytes(joinTag, commitment.joinTag))
    ? { kind: 'included' }
    : { kind: 'free' };
}
