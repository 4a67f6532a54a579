/** The user masks its input and freezes the upload: from then on these bytes leave, or none. */
import type { MaskPlan, MaskTerm, Secret } from '@basa/masking';
import { equalBytes, packVector } from '@basa/masking';
import type { UploadHeader } from '../wire/authority-messages.ts';
import { authorityMessages } from '../wire/authority-messages.ts';
import type { Slot } from '../wire/brands.ts';
import type { Refused } from '../wire/refusals.ts';
import { refused } from '../wire/refusals.ts';
import { declined, unchanged } from '../wire/transition.ts';
import { bodyHashOf } from '../wire/upload-layout.ts';
import type { Committed, ToSign } from './deposit.ts';
import { inputDigestOf } from './input.ts';
import type { UploadDraft } from './key.ts';
import type { DeviceLedger, LedgerRecord } from './ledger.ts';
import { commitmentProblem } from './ledger.ts';
import type { FrozenSession, SlottedSession, UserPorts, UserRecord, UserSession, UserStep } from './session.ts';
import { evolveSession } from './session.ts';

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

/** `masked` is y, packed. The answer's ledger record marks delta -> ctx: durable together with the session's record. */
export function freezeUpload(
  ports: UserPorts,
  ledger: DeviceLedger,
  session: UserSession,
  draft: UploadDraft,
  masked: Uint8Array,
): UserStep<Committed> {
  if (session.step !== 'slotted') return declined(session, refused('wrong-step'));
  const { ctx, joinTag, deltaId } = session.member;
  const problem = commitmentProblem(ledger, deltaId, { ctx, joinTag });
  if (problem !== undefined) return declined(session, problem);
  const entry: UserRecord = {
    kind: 'frozen',
    receipt: draft.receipt,
    voids: draft.voids,
    bodyHash: bodyHashOf(ports.suite, masked, draft.backups),
    earlier: draft.earlier.map((seed) => seed.reveal().slice()),
    backups: draft.backups,
  };
  const state = evolveSession(ports.suite, session, entry) as FrozenSession;
  const commitment: LedgerRecord = { kind: 'committed', deltaId, ctx, joinTag };
  return { state, records: [entry], answer: { ...headerToSign(state), ledger: commitment }, events: [] };
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

/** The server has the bytes, durably: the seeds are not needed any more; wipe the session once this is recorded. */
export function acknowledgeUpload(ports: UserPorts, session: UserSession): UserStep<{ readonly kind: 'acknowledged' }> {
  if (session.step === 'acknowledged') return unchanged(session, { kind: 'acknowledged' });
  if (session.step !== 'frozen') return declined(session, refused('wrong-step'));
  const entry: UserRecord = { kind: 'acknowledged' };
  return {
    state: evolveSession(ports.suite, session, entry),
    records: [entry],
    answer: { kind: 'acknowledged' },
    events: [],
  };
}

/** The update is free for another buffer (`releaseDelta`): the session is over; wipe it once this is recorded. */
export function releaseSession(ports: UserPorts, session: UserSession): UserStep<{ readonly kind: 'released' }> {
  if (session.step === 'released') return unchanged(session, { kind: 'released' });
  if (session.step !== 'frozen' && session.step !== 'acknowledged') return declined(session, refused('wrong-step'));
  const entry: UserRecord = { kind: 'released' };
  return {
    state: evolveSession(ports.suite, session, entry),
    records: [entry],
    answer: { kind: 'released' },
    events: [],
  };
}
