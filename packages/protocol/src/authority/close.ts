/**
 * Closes a buffer once, by the votes of enough authorities: for each slot either the key of its self seed (accepted) or
 * its edge key (not), never both.
 */
import { equalBytes, toHex } from '@basa/masking';
import {
  authorityMessages,
  type CloseAnswer,
  type CloseRequest,
  type ReleasedKey,
  type UploadHeader,
} from '../wire/authority-messages.ts';
import type { Millis, Slot } from '../wire/brands.ts';
import { closingOf, type HashedClosing, type ListedSlot, listedSlots } from '../wire/closing.ts';
import { type Endorsement, endorse, hasGoodEndorsements, indexOf, othersOf, signInTerm } from '../wire/council.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { isSelfName } from '../wire/sealing.ts';
import { isSigned } from '../wire/signed.ts';
import { isSameSlot, type Receipt, receiptCodec } from '../wire/slot-statements.ts';
import { declined, type Transition, unchanged } from '../wire/transition.ts';
import { depositStatementCodec } from '../wire/user-messages.ts';
import { type Vote, voteCodec } from '../wire/vote.ts';
import {
  type AuthorityBuffer,
  type AuthorityPorts,
  endIfOverdue,
  evolveBuffer,
  ownKeys,
  signOutcome,
} from './buffer.ts';
import type { AuthorityRecord, BufferClosed, KeyIssued } from './records.ts';

/**
 * A buffer that this authority voted in, or whose set is fixed: once the record is durable, the answer may leave, any
 * number of times.
 */
export interface SettledBuffer {
  readonly buffer: AuthorityBuffer;
}

/** Settles the buffer and computes its keys in one step. */
export function closeBuffer(
  ports: AuthorityPorts,
  buffer: AuthorityBuffer,
  request: CloseRequest,
  now: Millis,
): Transition<AuthorityBuffer, AuthorityRecord, CloseAnswer> {
  const { answer: settled, ...step } = settleBuffer(ports, buffer, request, now);
  if ('kind' in settled) return { ...step, answer: settled };
  return { ...step, answer: releaseKeys(ports, settled) };
}

/**
 * Votes for the close, or makes it final if enough authorities voted for it, including this one. The keys come later, because they take a
 * while and nothing needs to wait for them.
 *
 * There are two steps, because a server could send each authority a different set. If four authorities released keys independently, three
 * with different sets would reveal the self key of a slot and the edge keys of all others.
 */
export function settleBuffer(
  ports: AuthorityPorts,
  buffer: AuthorityBuffer,
  request: CloseRequest,
  now: Millis,
): Transition<AuthorityBuffer, AuthorityRecord, SettledBuffer> {
  const { suite } = ports;
  const { descriptor } = buffer;
  const refuse = (no: Refused) =>
    declined(buffer, no, [{ kind: 'refused', by: 'authority', step: 'close', reason: no.reason }]);
  const { closeRequest } = authorityMessages(descriptor.bufferSize);
  if (!equalBytes(request.ctx, buffer.ctx)) return refuse(refused('buffer-unknown'));
  if (!isSigned(suite, closeRequest, request, descriptor.serverKey)) return refuse(refused('server-unknown'));
  // Its keys are gone with their epoch.
  if (ownKeys(ports, buffer) === undefined) return refuse(refused('buffer-over'));
  // A repeated request, with any set: the recorded set and its keys.
  if (buffer.status === 'closed') return unchanged(buffer, { buffer });
  const overdue = endIfOverdue(buffer, now);
  if (overdue.length > 0) {
    return {
      state: overdue.reduce(evolveBuffer, buffer),
      records: overdue,
      answer: refused('buffer-over'),
      events: overdue,
    };
  }
  if (buffer.status !== 'open') return refuse(refused('buffer-over'));
  // The others closed it while this authority was away, and its sum is a model: no keys are needed.
  if (buffer.version !== undefined) return refuse(refused('buffer-over'));

  const listed = listedSlots(suite, request);
  const malformed = listProblem(buffer, request, listed);
  if (malformed !== undefined) return refuse(malformed);
  const closing = closingOf(suite, request, listed);
  const votes = goodVotes(ports, buffer, closing, request.votes);
  const isDecided = votes.length >= descriptor.threshold;
  if (!isDecided) {
    const problem = slotsProblem(ports, buffer, request, listed) ?? voidProblem(request);
    if (problem !== undefined) return refuse(problem);
    if (buffer.voted !== undefined && !equalBytes(buffer.voted, closing.hash)) return refuse(refused('other-vote'));
  }
  const own = indexOf(descriptor, ports.signer.publicKey);
  const others = votes.filter(({ authority }) => authority !== own).length;
  if (isDecided || others + 1 >= descriptor.threshold) return closed(buffer, closing, listed);
  if (buffer.voted !== undefined) return unchanged(buffer, { buffer });
  const record: AuthorityRecord = { kind: 'buffer-voted', ctx: buffer.ctx, closing: closing.hash };
  const voted = evolveBuffer(buffer, record);
  return { state: voted, records: [record], answer: { buffer: voted }, events: [] };
}

/** Returns the votes of authorities for this close; none if one of them is invalid. */
function goodVotes(
  { suite }: AuthorityPorts,
  { ctx, descriptor }: AuthorityBuffer,
  { hash: closing }: HashedClosing,
  endorsements: readonly Endorsement[],
): readonly Endorsement[] {
  const vote: Vote = { task: descriptor.task, ctx, closing, endorsements };
  return hasGoodEndorsements(suite, voteCodec, descriptor, vote) ? endorsements : [];
}

function closed(
  before: AuthorityBuffer,
  { hash: closing, accepted }: HashedClosing,
  listed: readonly ListedSlot[],
): Transition<AuthorityBuffer, AuthorityRecord, SettledBuffer> {
  const { ctx } = before;
  const withheld = listed.flatMap((entry) => {
    const issued = before.slots.get(entry.slot);
    return issued === undefined || isSameRegistration(issued, entry) ? [] : [entry.slot];
  });
  const record: BufferClosed = { kind: 'buffer-closed', ctx, closing, accepted, withheld };
  const buffer = evolveBuffer(before, record);
  const dropped = listed.length - accepted.length;
  return {
    state: buffer,
    records: [record],
    answer: { buffer },
    events: [{ kind: 'buffer-closed', ctx, accepted: accepted.length, dropped }],
  };
}

function isSameRegistration(issued: KeyIssued, { user, joinTag, root, view }: ListedSlot): boolean {
  return (
    equalBytes(issued.user, user) &&
    equalBytes(issued.joinTag, joinTag) &&
    equalBytes(issued.root, root) &&
    equalBytes(issued.view, view)
  );
}

/** Checks that there are enough accepted slots, that each is listed with its header, and that no user or tag appears twice. */
function listProblem(
  { descriptor }: AuthorityBuffer,
  { deposits, accepted, headers }: CloseRequest,
  listed: readonly ListedSlot[],
): Refused | undefined {
  if (accepted.length < descriptor.minimum) return refused('too-few', { slots: accepted });
  if (deposits.length > descriptor.bufferSize) return refused('close-mismatch');
  if (headers.length !== accepted.length || accepted.some((slot) => slot >= deposits.length))
    return refused('close-mismatch');
  const misplaced = accepted.filter((slot, n) => headers[n]?.slot !== slot);
  if (misplaced.length > 0) return refused('close-mismatch', { slots: misplaced });
  const repeated = [...repeats(listed.map(({ user }) => user)), ...repeats(listed.map(({ joinTag }) => joinTag))];
  return repeated.length > 0 ? refused('duplicate-user', { slots: repeated }) : undefined;
}

function repeats(names: readonly Uint8Array[]): readonly number[] {
  const seen = new Set<string>();
  return names.flatMap((name, slot) => {
    const isRepeat = seen.has(toHex(name));
    seen.add(toHex(name));
    return isRepeat ? [slot] : [];
  });
}

/** Every accepted slot is the registered one, saw the chain that this list gives, and signed deposit and header. */
function slotsProblem(
  ports: AuthorityPorts,
  buffer: AuthorityBuffer,
  { accepted, headers }: CloseRequest,
  listed: readonly ListedSlot[],
): Refused | undefined {
  const wrong = accepted.filter(
    (slot, n) => !isAsRegistered(ports, buffer, listed[slot] as ListedSlot, headers[n] as UploadHeader),
  );
  return wrong.length > 0 ? refused('close-mismatch', { slots: wrong }) : undefined;
}

function isAsRegistered(
  ports: AuthorityPorts,
  buffer: AuthorityBuffer,
  entry: ListedSlot,
  header: UploadHeader,
): boolean {
  const { suite } = ports;
  const { ctx, slot, joinTag, root, view, deviceKey, signature } = entry;
  return (
    isRegistered(ports, buffer, entry, header.receipt) &&
    isSigned(suite, depositStatementCodec, { ctx, joinTag, root, signature }, deviceKey) &&
    equalBytes(header.ctx, ctx) &&
    equalBytes(header.joinTag, joinTag) &&
    equalBytes(header.view, view) &&
    header.voids.every((earlier) => earlier < slot) &&
    isSelfName(buffer.descriptor, header.selfName) &&
    isSigned(suite, authorityMessages(buffer.descriptor.bufferSize).uploadHeader, header, deviceKey)
  );
}

/**
 * Checks that enough authorities registered this user for this slot. This one's own record counts, and contradicts; its
 * signature without a record does not count, because it may have lost its memory.
 */
function isRegistered(
  { suite, signer }: AuthorityPorts,
  { descriptor, slots }: AuthorityBuffer,
  entry: ListedSlot,
  receipt: Receipt,
): boolean {
  const issued = slots.get(entry.slot);
  if (issued !== undefined && !isSameRegistration(issued, entry)) return false;
  const own = issued === undefined ? 0 : 1;
  if (own >= descriptor.threshold) return true;
  return (
    own + othersOf(descriptor, signer, receipt) >= descriptor.threshold &&
    isSameSlot(receipt, entry) &&
    hasGoodEndorsements(suite, receiptCodec, descriptor, receipt)
  );
}

/** A void edge means that its two ends share no mask: accepted together, one of them could be exposed. */
function voidProblem({ accepted, headers }: CloseRequest): Refused | undefined {
  const isAccepted = new Set<number>(accepted);
  const bare = headers.find(({ voids }) => voids.some((slot) => isAccepted.has(slot)));
  return bare === undefined
    ? undefined
    : refused('void-edge', { slots: [...bare.voids.filter((slot) => isAccepted.has(slot)), bare.slot] });
}

/**
 * Returns the vote, and the signed keys of a decided buffer: the key of self(r) for accepted slots, edge(l) for every
 * other slot, assigned or not. They are computed here, or were `made` elsewhere: one for each slot.
 */
export function releaseKeys(
  ports: AuthorityPorts,
  { buffer }: SettledBuffer,
  made?: readonly (Uint8Array | undefined)[],
): CloseAnswer | Refused {
  const { ctx, descriptor, closed, voted } = buffer;
  const own = ownKeys(ports, buffer);
  const closing = voted ?? closed?.closing;
  if (own === undefined || closing === undefined) return refused('buffer-over');
  const keys: ReleasedKey[] = [];
  if (closed !== undefined) {
    const accepted = new Map(closed.accepted.map((entry) => [entry.slot as number, entry]));
    const withheld = new Set<number>(closed.withheld);
    for (let position = 0; position < descriptor.bufferSize; position++) {
      const slot = position as Slot;
      const entry = accepted.get(slot);
      const compute = (): Uint8Array | undefined =>
        entry === undefined ? own.keys.edge(slot) : own.keys.self(entry.registration, entry.selfName);
      const key = made === undefined ? compute() : made[slot];
      if (key !== undefined && !withheld.has(slot))
        keys.push({ slot, role: entry === undefined ? 'edge' : 'self', key });
    }
  }
  const vote = endorse(voteCodec, descriptor, ports.signer, { task: descriptor.task, ctx, closing });
  const body = { vote, outcome: signOutcome(ports, ctx, buffer), keys };
  const { closeAnswer } = authorityMessages(descriptor.bufferSize);
  return signInTerm(closeAnswer, descriptor, ports.signer, body);
}
