/** The user gets the keys of its slot, opens the seeds that were sealed to it, and drafts its upload. */
import { equalBytes, SEED_BYTES, Secret } from '@basa/masking';
import type { KeyAnswer } from '../wire/authority-messages.ts';
import type { Slot } from '../wire/brands.ts';
import { agreedOn, isEndorsedByOne, isSignedBySeat } from '../wire/council.ts';
import { openEnvelope } from '../wire/envelope.ts';
import { commitmentOf, registrationOf } from '../wire/naming.ts';
import { isRefused, type Refused, refused } from '../wire/refusals.ts';
import { type SealingSteps, sealedAtOnce } from '../wire/sealing-work.ts';
import { isSlotKeyOf } from '../wire/slot-sealing.ts';
import { isSameSlot, issuedKeyCodec, type Receipt, receiptCodec } from '../wire/slot-statements.ts';
import type { SealedParts } from '../wire/upload-layout.ts';
import type { InboxEntry } from '../wire/user-messages.ts';
import type { SlottedSession, UserPorts, UserSession } from './session.ts';
import { keyRequestToSign } from './slot.ts';

/** Everything of the upload but the vector. Lives in memory until it is frozen. */
export interface UploadDraft {
  readonly kind: 'draft';
  readonly receipt: Receipt;
  /** Slots whose edge did not open or did not match its commitment. */
  readonly voids: readonly Slot[];
  /** b. */
  readonly self: Secret;
  /** s_il of the slots that are not void. */
  readonly earlier: readonly Secret[];
  /** The same, sealed: b for the close, each s_il for the case that i drops out. */
  readonly parts: SealedParts;
}

/** The answer of one authority. */
export interface KeyAnswerOf {
  /** Its index. */
  readonly authority: number;
  readonly answer: KeyAnswer;
}

/** Drafts with everything opened and sealed synchronously. */
export function receiveKey(
  ports: UserPorts,
  session: UserSession,
  answers: readonly KeyAnswerOf[],
): UploadDraft | Refused {
  return sealedAtOnce(ports.sealing, keySteps(ports, session, answers));
}

/** Needs the answers of enough authorities; invalid ones (`keyAnswerProblem`) do not count. */
export function* keySteps(
  ports: UserPorts,
  session: UserSession,
  answers: readonly KeyAnswerOf[],
): SealingSteps<UploadDraft | Refused> {
  if (session.step !== 'slotted') return refused('wrong-step');
  const { member, ticket, inbox } = session;
  const judged = answers.map((one) => ({ ...one, opened: openedAnswer(ports, session, one) }));
  const good = judged.flatMap(({ authority, answer, opened }) =>
    isRefused(opened) ? [] : [{ authority, key: opened, receipt: answer.receipt }],
  );
  const bad = judged.map(({ opened }) => opened).find(isRefused);
  const receipt = agreedOn(
    receiptCodec,
    member.descriptor,
    good.map((one) => one.receipt),
  );
  if (receipt === undefined) return bad ?? refused('key-invalid', { detail: 'too few authorities answered' });
  const entries = inbox.map(({ sealed, joinTag }) => ({ sealed, use: { role: 'edge', joinTag } as const }));
  const opened = yield { kind: 'open', buffer: member, slot: ticket.slot, keys: good, entries };
  for (const { key } of good) key.fill(0);
  // A wrong key would open nothing, and every edge would count as void: a fault of the authority, or of a party in
  // between.
  if (opened === undefined) return refused('key-invalid', { detail: 'it is not the key of this slot in the list' });
  return yield* draftSteps(ports, session, receipt, opened);
}

/** Returns the reason why the answer of one authority does not count, so that another is awaited; undefined for a good one. */
export function keyAnswerProblem(ports: UserPorts, session: SlottedSession, answer: KeyAnswerOf): Refused | undefined {
  const opened = openedAnswer(ports, session, answer);
  if (isRefused(opened)) return opened;
  const { member, ticket } = session;
  const { parts, threshold } = member.descriptor;
  // If all are needed, there is no other answer to wait for: opening checks the key.
  const isOwn =
    parts.length === threshold ||
    isSlotKeyOf(ports.suite, member, ticket.slot, { authority: answer.authority, key: opened });
  opened.fill(0);
  return isOwn ? undefined : refused('key-invalid', { detail: 'it is not the key of this slot in the list' });
}

function openedAnswer(
  ports: UserPorts,
  session: SlottedSession,
  { authority, answer }: KeyAnswerOf,
): Uint8Array | Refused {
  const { descriptor } = session.member;
  const { receipt } = answer;
  const hasPart = descriptor.parts.some((part) => part.authority === authority);
  const isMine =
    hasPart &&
    // The ticket was checked to be mine before: a receipt of the same slot is mine.
    isSameSlot(receipt, session.ticket) &&
    isEndorsedByOne(ports.suite, receiptCodec, descriptor, receipt, authority);
  if (!isMine) return refused('receipt-invalid');
  return openedKey(ports, session, { authority, answer }) ?? refused('key-invalid');
}

/** The key that the authority states to have given for this very request. */
function openedKey(
  { suite }: UserPorts,
  session: SlottedSession,
  { authority, answer: { envelope, issued } }: KeyAnswerOf,
): Uint8Array | undefined {
  const requestDigest = suite.sha256(keyRequestToSign(session).statement);
  const { descriptor } = session.member;
  const isForMe =
    isSignedBySeat(suite, issuedKeyCodec, descriptor, authority, issued) &&
    equalBytes(issued.requestDigest, requestDigest);
  if (!isForMe) return undefined;
  const key = openEnvelope(suite, {
    recipientSecret: session.ephemeralSecret.reveal(),
    requestDigest,
    envelope,
  });
  return key !== undefined && equalBytes(suite.sha256(key), issued.keyHash) ? key : undefined;
}

function* draftSteps(
  { suite, randomBytes }: UserPorts,
  { member, inbox }: SlottedSession,
  receipt: Receipt,
  opened: readonly (Uint8Array | undefined)[],
): SealingSteps<UploadDraft> {
  // A seed that does not match its owner's commitment is treated like a seed that does not open.
  const isMeant = (seed: Uint8Array | undefined, i: number): boolean =>
    seed !== undefined && equalBytes(commitmentOf(suite, seed), (inbox[i] as InboxEntry).commitment);
  const voids = opened.flatMap((seed, i) => (isMeant(seed, i) ? [] : [i as Slot]));
  const earlier = opened.flatMap((seed, i) => (isMeant(seed, i) ? [{ seed: seed as Uint8Array, i: i as Slot }] : []));
  const self = randomBytes(SEED_BYTES);
  // backup_i = Seal(s_il, edge(i)): my own backup repairs a drop-out of i.
  const use = { role: 'backup', joinTag: member.joinTag } as const;
  const sealed = yield {
    kind: 'seal',
    buffer: member,
    seals: [
      { to: 'self', registration: registrationOf(suite, receipt), seed: self },
      ...earlier.map(({ seed, i }) => ({ to: i, use, seed })),
    ],
  };
  const [sealedSelf, ...backups] = sealed as readonly Uint8Array[];
  return {
    kind: 'draft',
    receipt,
    voids,
    self: new Secret(self),
    earlier: earlier.map(({ seed }) => new Secret(seed)),
    parts: { self: sealedSelf as Uint8Array, backups },
  };
}
