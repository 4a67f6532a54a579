/** Closes a buffer once: for each slot either what opens its self seed (accepted) or its edge key (not), never both. */
import { equalBytes, toHex } from '@basa/masking';
import type { CloseAnswer, CloseRequest, ReleasedKey, UploadHeader } from '../wire/authority-messages.ts';
import { authorityMessages } from '../wire/authority-messages.ts';
import type { JoinTag, Millis, Slot, View } from '../wire/brands.ts';
import { joinTagOf, registrationOf, viewsOf } from '../wire/naming.ts';
import type { Refused } from '../wire/refusals.ts';
import { refused } from '../wire/refusals.ts';
import type { BufferKeys } from '../wire/sealing.ts';
import { allSteps, isSelfName } from '../wire/sealing.ts';
import { isSigned } from '../wire/statements.ts';
import type { Transition } from '../wire/transition.ts';
import { declined, unchanged } from '../wire/transition.ts';
import { depositStatementCodec } from '../wire/user-messages.ts';
import type { AuthorityBuffer, AuthorityPorts } from './buffer.ts';
import { abortIfOverdue, evolveBuffer, signOutcome } from './buffer.ts';
import type { AcceptedSlot, AuthorityRecord, BufferClosed, KeyIssued } from './records.ts';

/** A buffer whose set is fixed: once its record is durable, its keys may be released, as often as the server asks. */
export interface SettledBuffer {
  readonly buffer: AuthorityBuffer;
}

/** Settles the buffer and computes its keys at once. */
export function closeBuffer(
  ports: AuthorityPorts,
  buffer: AuthorityBuffer,
  request: CloseRequest,
  now: Millis,
): Transition<AuthorityBuffer, AuthorityRecord, CloseAnswer> {
  const { answer: settled, ...step } = settleBuffer(ports, buffer, request, now);
  if ('kind' in settled) return { ...step, answer: settled };
  return { ...step, answer: allSteps(releaseKeys(ports, settled)) };
}

/** Decides about the close, without its keys: they take a while, and nothing needs to wait for them. */
export function settleBuffer(
  ports: AuthorityPorts,
  buffer: AuthorityBuffer,
  request: CloseRequest,
  now: Millis,
): Transition<AuthorityBuffer, AuthorityRecord, SettledBuffer> {
  const refuse = (no: Refused) =>
    declined(buffer, no, [{ kind: 'refused', by: 'authority', step: 'close', reason: no.reason }]);
  const { closeRequest } = authorityMessages(buffer.descriptor.bufferSize);
  if (!equalBytes(request.ctx, buffer.ctx)) return refuse(refused('buffer-unknown'));
  if (!isSigned(ports.suite, closeRequest, request, buffer.descriptor.serverKey))
    return refuse(refused('server-unknown'));
  // Asked again, with whatever set: the recorded set and its keys.
  if (buffer.status === 'closed') return settled(ports, buffer);
  const overdue = abortIfOverdue(buffer, now);
  if (overdue.length > 0) {
    return {
      state: overdue.reduce(evolveBuffer, buffer),
      records: overdue,
      answer: refused('buffer-over'),
      events: [{ kind: 'buffer-aborted', ctx: buffer.ctx }],
    };
  }
  if (buffer.status !== 'open') return refuse(refused('buffer-over'));

  const tags = request.deposits.map(({ user, nonce }) => joinTagOf(ports.suite, { ctx: buffer.ctx, user, nonce }));
  const problem =
    listProblem(buffer, request, tags) ?? slotsProblem(ports, buffer, request, tags) ?? voidProblem(request);
  if (problem !== undefined) return refuse(problem);
  const accepted = request.headers.map(({ slot, joinTag, selfName }): AcceptedSlot => ({ slot, joinTag, selfName }));
  const dropped = request.deposits.length - accepted.length;
  return settled(ports, buffer, { record: { kind: 'buffer-closed', ctx: buffer.ctx, accepted }, dropped });
}

/** Enough accepted slots, all of them listed, with one header each; no user and no tag twice. */
function listProblem(
  { descriptor }: AuthorityBuffer,
  request: CloseRequest,
  tags: readonly JoinTag[],
): Refused | undefined {
  const { deposits, accepted, headers } = request;
  if (accepted.length < descriptor.minimum) return refused('too-few', { slots: accepted });
  if (deposits.length > descriptor.bufferSize) return refused('close-mismatch');
  if (headers.length !== accepted.length || accepted.some((slot) => slot >= deposits.length))
    return refused('close-mismatch');
  const repeated = [...repeats(deposits.map(({ user }) => user)), ...repeats(tags)];
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

/** Every accepted slot is the one that was registered, saw the chain this list gives, and signed deposit and header. */
function slotsProblem(
  ports: AuthorityPorts,
  buffer: AuthorityBuffer,
  request: CloseRequest,
  tags: readonly JoinTag[],
): Refused | undefined {
  const links = request.deposits.map(({ root }, slot) => ({ joinTag: tags[slot] as JoinTag, root }));
  const views = viewsOf(ports.suite, buffer.ctx, links);
  const wrong = request.accepted.filter(
    (slot, n) => !isAsRegistered(ports, buffer, request, slot, views[slot] as View, request.headers[n] as UploadHeader),
  );
  return wrong.length > 0 ? refused('close-mismatch', { slots: wrong }) : undefined;
}

function isAsRegistered(
  { suite }: AuthorityPorts,
  buffer: AuthorityBuffer,
  { deposits }: CloseRequest,
  slot: Slot,
  view: View,
  header: UploadHeader,
): boolean {
  const issued = buffer.slots.get(slot);
  const deposit = deposits[slot];
  if (issued === undefined || deposit === undefined) return false;
  const { ctx, deviceKey, joinTag, root } = issued;
  return (
    equalBytes(deposit.user, issued.user) &&
    equalBytes(joinTagOf(suite, { ctx, user: deposit.user, nonce: deposit.nonce }), joinTag) &&
    equalBytes(deposit.root, root) &&
    equalBytes(view, issued.view) &&
    isSigned(suite, depositStatementCodec, { ctx, joinTag, root, signature: deposit.signature }, deviceKey) &&
    equalBytes(header.ctx, ctx) &&
    header.slot === slot &&
    equalBytes(header.joinTag, joinTag) &&
    equalBytes(header.view, issued.view) &&
    header.voids.every((earlier) => earlier < slot) &&
    isSelfName(buffer.descriptor, header.selfName) &&
    isSigned(suite, authorityMessages(buffer.descriptor.bufferSize).uploadHeader, header, deviceKey)
  );
}

/** A void edge means that its two ends share no mask: accepted together, one of them could be bared. */
function voidProblem({ accepted, headers }: CloseRequest): Refused | undefined {
  const isAccepted = new Set<number>(accepted);
  const bare = headers.find(({ voids }) => voids.some((slot) => isAccepted.has(slot)));
  return bare === undefined
    ? undefined
    : refused('void-edge', { slots: [...bare.voids.filter((slot) => isAccepted.has(slot)), bare.slot] });
}

function settled(
  ports: AuthorityPorts,
  before: AuthorityBuffer,
  decided?: { readonly record: BufferClosed; readonly dropped: number },
): Transition<AuthorityBuffer, AuthorityRecord, SettledBuffer> {
  if (ports.issuerFor(before.descriptor) === undefined) return declined(before, refused('buffer-over'));
  if (decided === undefined) return unchanged(before, { buffer: before });
  const { record, dropped } = decided;
  const buffer = evolveBuffer(before, record);
  return {
    state: buffer,
    records: [record],
    answer: { buffer },
    events: [{ kind: 'buffer-closed', ctx: record.ctx, accepted: record.accepted.length, dropped }],
  };
}

/**
 * The keys of a settled buffer, signed: what opens self(r) of the accepted, edge(l) of every other slot, assigned or not. It yields
 * after each key, so that whoever runs it may do something else in between.
 */
export function* releaseKeys(
  ports: AuthorityPorts,
  { buffer }: SettledBuffer,
): Generator<undefined, CloseAnswer | Refused> {
  const { ctx, descriptor, closed } = buffer;
  const issuer = ports.issuerFor(descriptor);
  if (issuer === undefined || closed === undefined) return refused('buffer-over');
  const keysOf = issuer.keysOf(buffer);
  const accepted = new Map(closed.accepted.map((entry) => [entry.slot as number, entry]));
  const keys: ReleasedKey[] = [];
  for (let position = 0; position < descriptor.bufferSize; position++) {
    const slot = position as Slot;
    const entry = accepted.get(slot);
    if (entry === undefined) keys.push({ slot, role: 'edge', key: keysOf.edge(slot) });
    else keys.push({ slot, role: 'self', key: selfKeyOf(ports, buffer, keysOf, entry) });
    yield;
  }
  const body = { outcome: signOutcome(ports, ctx, buffer), keys };
  const { closeAnswer } = authorityMessages(descriptor.bufferSize);
  return { ...body, signature: ports.signer.sign(closeAnswer.statement(body)) };
}

/** r from the authority's own record, the name of the seed from the header that its device signed. */
function selfKeyOf(
  { suite }: AuthorityPorts,
  { slots }: AuthorityBuffer,
  keys: BufferKeys,
  { slot, selfName }: AcceptedSlot,
): Uint8Array {
  const key = keys.self(registrationOf(suite, slots.get(slot) as KeyIssued), selfName);
  if (key === undefined) throw new Error(`slot ${slot} was accepted with a self seed that has no key`);
  return key;
}
