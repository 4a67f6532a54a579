/** The user gets the key of its slot, opens what was sealed to it, and drafts its upload. */
import { equalBytes, Secret } from '@basa/masking';
import type { KeyAnswer } from '../wire/authority-messages.ts';
import type { Slot } from '../wire/brands.ts';
import { openEnvelope } from '../wire/envelope.ts';
import { commitmentOf, dropAttribute, sealingContext } from '../wire/naming.ts';
import type { Refused } from '../wire/refusals.ts';
import { refused } from '../wire/refusals.ts';
import type { Receipt } from '../wire/statements.ts';
import { isSameSlot, isSigned, receiptCodec } from '../wire/statements.ts';
import type { InboxEntry } from '../wire/user-messages.ts';
import type { SlottedSession, UserPorts, UserSession } from './session.ts';
import { keyRequestToSign } from './slot.ts';

/** Everything of the upload but the vector. Lives in memory until it is frozen. */
export interface UploadDraft {
  readonly kind: 'draft';
  readonly receipt: Receipt;
  /** Slots whose edge did not open or missed its commitment. */
  readonly voids: readonly Slot[];
  /** s_il of the others, and their backups for the case that i drops out. */
  readonly earlier: readonly Secret[];
  readonly backups: readonly Uint8Array[];
}

export function receiveKey(ports: UserPorts, session: UserSession, answer: KeyAnswer): UploadDraft | Refused {
  if (session.step !== 'slotted') return refused('wrong-step');
  const requestDigest = ports.suite.sha256(keyRequestToSign(ports, session).statement);
  if (!isMyReceipt(ports, session, answer.receipt, requestDigest)) return refused('receipt-invalid');
  const key = openEnvelope(ports.suite, {
    recipientSecret: session.ephemeralSecret.reveal(),
    requestDigest,
    envelope: answer.envelope,
  });
  if (key === undefined || !equalBytes(ports.suite.sha256(key), answer.receipt.keyHash)) return refused('key-invalid');
  const draft = draftOf(ports, session, answer.receipt, key);
  key.fill(0);
  return draft;
}

/** The ticket was held to me before: a receipt of the same slot is mine. */
function isMyReceipt(
  { suite, authorityKey }: UserPorts,
  { ticket }: SlottedSession,
  receipt: Receipt,
  requestDigest: Uint8Array,
): boolean {
  return (
    isSigned(suite, receiptCodec, receipt, authorityKey) &&
    equalBytes(receipt.requestDigest, requestDigest) &&
    isSameSlot(receipt, ticket)
  );
}

function draftOf(ports: UserPorts, session: SlottedSession, receipt: Receipt, key: Uint8Array): UploadDraft {
  const seeds = session.inbox.map((entry) => openEdge(ports, session, entry, key));
  const voids = seeds.flatMap((seed, i) => (seed === undefined ? [i as Slot] : []));
  const opened = seeds.flatMap((seed, i) => (seed === undefined ? [] : [{ seed, i }]));
  const backups = opened.map(({ seed, i }) => backupOf(ports, session, i as Slot, seed));
  return { kind: 'draft', receipt, voids, earlier: opened.map(({ seed }) => new Secret(seed)), backups };
}

/** s_il, or undefined where it does not open or is not the seed its owner committed to. */
function openEdge(
  { suite, sealing }: UserPorts,
  { member, ticket }: SlottedSession,
  entry: InboxEntry,
  key: Uint8Array,
): Uint8Array | undefined {
  const seed = sealing.open(entry.sealed, key, sealingContext(member.ctx, 'edge', entry.joinTag, ticket.slot));
  return seed !== undefined && equalBytes(commitmentOf(suite, seed), entry.commitment) ? seed : undefined;
}

/** backup_i = Enc(s_il, drop(g_i)): a drop-out of i is mended by my own word. */
function backupOf(
  { suite, sealing }: UserPorts,
  { member, inbox }: SlottedSession,
  i: Slot,
  seed: Uint8Array,
): Uint8Array {
  const { joinTag } = inbox[i] as InboxEntry;
  return sealing.seal(
    seed,
    dropAttribute(suite, member.ctx, joinTag),
    sealingContext(member.ctx, 'backup', member.joinTag, i),
  );
}
