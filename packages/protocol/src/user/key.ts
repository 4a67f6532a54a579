/** The user gets the key of its slot, opens what was sealed to it, and drafts its upload. */
import { equalBytes, SEED_BYTES, Secret } from '@basa/masking';
import type { KeyAnswer } from '../wire/authority-messages.ts';
import type { Slot } from '../wire/brands.ts';
import { openEnvelope } from '../wire/envelope.ts';
import { commitmentOf, registrationOf } from '../wire/naming.ts';
import type { Refused } from '../wire/refusals.ts';
import { refused } from '../wire/refusals.ts';
import type { EdgeOpener } from '../wire/sealing.ts';
import type { Receipt } from '../wire/statements.ts';
import { isSameSlot, isSigned, issuedKeyCodec, receiptCodec } from '../wire/statements.ts';
import type { SealedParts } from '../wire/upload-layout.ts';
import type { InboxEntry } from '../wire/user-messages.ts';
import type { SlottedSession, UserPorts, UserSession } from './session.ts';
import { keyRequestToSign } from './slot.ts';

/** Everything of the upload but the vector. Lives in memory until it is frozen. */
export interface UploadDraft {
  readonly kind: 'draft';
  readonly receipt: Receipt;
  /** Slots whose edge did not open or missed its commitment. */
  readonly voids: readonly Slot[];
  /** b. */
  readonly self: Secret;
  /** s_il of the slots that are not void. */
  readonly earlier: readonly Secret[];
  /** The same, sealed: b for the close, each s_il for the case that i drops out. */
  readonly parts: SealedParts;
}

export function receiveKey(ports: UserPorts, session: UserSession, answer: KeyAnswer): UploadDraft | Refused {
  if (session.step !== 'slotted') return refused('wrong-step');
  const requestDigest = ports.suite.sha256(keyRequestToSign(ports, session).statement);
  if (!isMyReceipt(ports, session, answer.receipt)) return refused('receipt-invalid');
  const key = openedKey(ports, session, answer, requestDigest);
  if (key === undefined) return refused('key-invalid');
  const opener = ports.sealing.edgeOpener(session.member, session.ticket.slot, key);
  const draft = opener === undefined ? undefined : draftOf(ports, session, answer.receipt, opener);
  key.fill(0);
  // A wrong key would open nothing, and every edge would count as void: a fault of the authority, or of who stands between.
  return draft ?? refused('key-invalid', { detail: 'it is not the key of this slot in the list' });
}

/** The ticket was held to me before: a receipt of the same slot is mine. */
function isMyReceipt({ suite, authorityKey }: UserPorts, { ticket }: SlottedSession, receipt: Receipt): boolean {
  return isSigned(suite, receiptCodec, receipt, authorityKey) && isSameSlot(receipt, ticket);
}

/** The key that the authority says it gave for this very request. */
function openedKey(
  { suite, authorityKey }: UserPorts,
  session: SlottedSession,
  { envelope, issued }: KeyAnswer,
  requestDigest: Uint8Array,
): Uint8Array | undefined {
  const isForMe =
    isSigned(suite, issuedKeyCodec, issued, authorityKey) && equalBytes(issued.requestDigest, requestDigest);
  if (!isForMe) return undefined;
  const key = openEnvelope(suite, {
    recipientSecret: session.ephemeralSecret.reveal(),
    requestDigest,
    envelope,
  });
  return key !== undefined && equalBytes(suite.sha256(key), issued.keyHash) ? key : undefined;
}

function draftOf(ports: UserPorts, session: SlottedSession, receipt: Receipt, open: EdgeOpener): UploadDraft {
  const { suite, sealing, randomBytes } = ports;
  const { member, inbox } = session;
  const seeds = inbox.map((entry) => openEdge(ports, entry, open));
  const voids = seeds.flatMap((seed, i) => (seed === undefined ? [i as Slot] : []));
  const opened = seeds.flatMap((seed, i) => (seed === undefined ? [] : [{ seed, i }]));
  // backup_i = Seal(s_il, edge(i)): a drop-out of i is mended by my own word.
  const use = { role: 'backup', joinTag: member.joinTag } as const;
  const backups = opened.map(({ seed, i }) => sealing.sealEdge(member, i as Slot, use, seed));
  const self = randomBytes(SEED_BYTES);
  const parts = { self: sealing.sealSelf(member, registrationOf(suite, receipt), self), backups };
  return {
    kind: 'draft',
    receipt,
    voids,
    self: new Secret(self),
    earlier: opened.map(({ seed }) => new Secret(seed)),
    parts,
  };
}

/** s_il, or undefined where it does not open or is not the seed its owner committed to. */
function openEdge({ suite }: UserPorts, entry: InboxEntry, open: EdgeOpener): Uint8Array | undefined {
  const seed = open(entry.sealed, { role: 'edge', joinTag: entry.joinTag });
  return seed !== undefined && equalBytes(commitmentOf(suite, seed), entry.commitment) ? seed : undefined;
}
