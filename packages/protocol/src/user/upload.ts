/** The user masks its input and freezes the upload. After that, only these bytes are ever sent. */
import { equalBytes, type MaskTerm, packVector } from '@basa/masking';
import { authorityMessages, type UploadHeader } from '../wire/authority-messages.ts';
import type { Slot } from '../wire/brands.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { declined } from '../wire/transition.ts';
import { bodyHashOf } from '../wire/upload-layout.ts';
import { budgetProblem } from './budget.ts';
import type { ToSign } from './deposit.ts';
import { type Device, type DeviceStep, restoreDevice } from './device.ts';
import { inputDigestOf } from './input.ts';
import type { UploadDraft } from './key.ts';
import { commitmentProblem, versionProblem } from './ledger.ts';
import type { Masking } from './requests.ts';
import type { FrozenSession, SlottedSession, UserPorts, UserRecord, UserSession } from './session.ts';

/**
 * y = x' + PRG(b) - sum_{i<l, not void} PRG(s_il) + sum_{j>l} PRG(s_lj). The input must be the one that was fixed before the deposit. It
 * can be called before the upload is frozen (with its draft) and again afterwards, and gives the same bytes.
 */
export function maskInput(
  { suite }: Pick<UserPorts, 'suite'>,
  session: UserSession,
  input: Uint32Array,
  draft?: UploadDraft,
): Masking | Refused {
  if (session.step === 'slotted' && draft !== undefined) return masking(session, session.ticket.slot, draft);
  if (session.step === 'frozen') return masking(session, session.header.slot, session);
  return refused('wrong-step');

  function masking(
    { member, edges }: SlottedSession | FrozenSession,
    slot: Slot,
    { self, earlier }: Pick<UploadDraft, 'self' | 'earlier'>,
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

/** `masked` is y, packed. The ledger's record marks delta -> ctx: durable together with the session's. */
export function freezeUpload(
  ports: UserPorts,
  device: Device,
  draft: UploadDraft,
  masked: Uint8Array,
): DeviceStep<ToSign> {
  const { ledger, session } = device;
  if (session?.step !== 'slotted') return declined(device, refused('wrong-step'));
  const { ctx, joinTag, deltaId, descriptor } = session.member;
  const problem =
    commitmentProblem(ledger, deltaId, { ctx, joinTag }) ??
    budgetProblem(ledger, descriptor.privacy, deltaId) ??
    versionProblem(ledger, descriptor, deltaId);
  if (problem !== undefined) return declined(device, problem);
  const entry: UserRecord = {
    kind: 'frozen',
    receipt: draft.receipt,
    voids: draft.voids,
    selfName: draft.parts.self.slice(0, ports.sealing.selfNameBytes),
    bodyHash: bodyHashOf(ports.suite, masked, draft.parts),
    self: draft.self.reveal().slice(),
    earlier: draft.earlier.map((seed) => seed.reveal().slice()),
    parts: draft.parts,
  };
  const records = [
    entry,
    { kind: 'committed' as const, deltaId, ctx, joinTag, version: descriptor.version, epochs: [] },
  ];
  const state = restoreDevice(ports.suite, records, device);
  return { state, records, answer: headerToSign(state.session as FrozenSession), events: [] };
}

export function headerToSign({ member, header }: FrozenSession): ToSign {
  return { statement: authorityMessages(member.descriptor.bufferSize).uploadHeader.statement(header) };
}

export function uploadHeaderMessage({ header }: FrozenSession, signature: Uint8Array): UploadHeader {
  return { ...header, signature };
}

/** y on the wire. */
export function packMasked(
  { kernel }: Pick<UserPorts, 'kernel'>,
  { member }: SlottedSession | FrozenSession,
  vector: Uint32Array,
): Uint8Array {
  return packVector(vector, member.descriptor.modulus, kernel);
}
