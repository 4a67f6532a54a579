/** The promises that must hold in every state of an exploration; each broken one is a sentence. */
import { equalBytes, toHex } from '@basa/masking';
import {
  type AuthorityBuffer,
  type BufferSlot,
  type Fate,
  fateOf,
  type Outcome,
  type SecureBuffer,
} from '@basa/protocol';
import type { FederationDevice } from '@basa/simulator';
import { canonical } from './canonical.ts';
import type { Message, MessageOf } from './messages.ts';
import type { ServerLocal } from './server-disk.ts';
import type { UserLocal } from './user-party.ts';

/** The fate of an update that the server acknowledged. */
export type SettledFate = Exclude<Fate, 'pending'>;

type Sentence = string | undefined;

/** A new message must not contradict an earlier one: a statement cannot be withdrawn. */
export function messageProblem(before: readonly Message[], added: Message): Sentence {
  if (added.kind === 'close-answer') {
    const problem = releaseProblem([added]);
    if (problem !== undefined) return problem;
  }
  for (const earlier of before) {
    if (earlier.kind !== added.kind || earlier.buffer !== added.buffer) continue;
    const problem = contradiction(earlier, added);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function contradiction(earlier: Message, added: Message): Sentence {
  if (earlier.kind === 'slot' && added.kind === 'slot') {
    const [a, b] = [earlier.value.ticket, added.value.ticket];
    if (a.slot === b.slot && !equalBytes(a.joinTag, b.joinTag)) return `slot ${a.slot} was given to two deposits`;
    if (earlier.user === added.user && a.slot !== b.slot) return `user ${added.user} was given two slots`;
  }
  if (earlier.kind === 'key' && added.kind === 'key' && earlier.from === added.from) {
    const [a, b] = [earlier.value, added.value];
    if (a.receipt.slot === b.receipt.slot && !equalBytes(a.issued.requestDigest, b.issued.requestDigest))
      return `the key of slot ${a.receipt.slot} was issued to two requests`;
  }
  if (earlier.kind === 'key-request' && added.kind === 'key-request' && earlier.user === added.user)
    return `user ${added.user} signed two key requests in one buffer`;
  if (earlier.kind === 'upload' && added.kind === 'upload' && earlier.user === added.user)
    return `user ${added.user} signed two uploads in one buffer`;
  if (earlier.kind === 'close-answer' && added.kind === 'close-answer') return releaseProblem([earlier, added]);
  if (earlier.kind === 'outcome' && added.kind === 'outcome' && earlier.from === added.from)
    return outcomeProblem(earlier.value, added.value);
  if (earlier.kind === 'model-entry' && added.kind === 'model-entry') {
    const [a, b] = [earlier.value, added.value];
    if (a.version !== b.version || !equalBytes(a.modelHash, b.modelHash))
      return 'one buffer made two versions of the model';
  }
  return undefined;
}

/** "Unknown" withdraws no statement: a rolled-back authority says it, and it frees no update. */
function outcomeProblem(earlier: Outcome, added: Outcome): Sentence {
  return earlier.status === 'unknown' || added.status === 'unknown'
    ? undefined
    : `the authority said "${earlier.status}" and then another "${added.status}"`;
}

/** For each slot either its self key or its edge key, over all answers together; and one set of slots. */
function releaseProblem(answers: readonly MessageOf<'close-answer'>[]): Sentence {
  const released = answers.filter(({ value }) => value.keys.length > 0);
  const keys = released.flatMap(({ value }) => value.keys);
  const own = new Set(keys.filter(({ role }) => role === 'self').map(({ slot }) => slot));
  const both = keys.find(({ role, slot }) => role !== 'self' && own.has(slot));
  if (both !== undefined) return `self and ${both.role} keys of slot ${both.slot} were both released`;
  const sets = new Set(released.map(({ value }) => canonical(value.outcome.accepted)));
  return sets.size > 1 ? 'one buffer was closed with two sets of slots' : undefined;
}

/** Checks only the server: every opened sum is the one-hot sum of its slots, and no update is in two sums. */
export function serverProblem(
  devices: readonly FederationDevice[],
  buffers: readonly SecureBuffer[],
  { models }: ServerLocal,
): Sentence {
  const total = devices.map(() => 0);
  for (const { buffer: at, sum, version } of models) {
    const expected = oneHotSum(buffers[at] as SecureBuffer, devices);
    if (canonical(sum) !== canonical(expected))
      return `version ${version} holds the sum ${sum.join(' ')} instead of ${expected.join(' ')}`;
    for (const [n, count] of sum.entries()) total[n] = (total[n] ?? 0) + count;
  }
  const twice = total.findIndex((count) => count > 1);
  if (twice >= 0) return `the update of user ${twice} was counted ${total[twice]} times`;
  if (new Set(models.map(({ buffer }) => buffer)).size < models.length) return 'one buffer was aggregated twice';
  return buffers.some(({ status }, at) => (status === 'included') !== models.some(({ buffer }) => buffer === at))
    ? 'a buffer is "included" without its sum, or the other way round'
    : undefined;
}

/** The sum of the accepted slots: each device's update is 1 in its own place. */
export function oneHotSum(
  { accepted, slots }: Pick<SecureBuffer, 'accepted' | 'slots'>,
  devices: readonly FederationDevice[],
): readonly number[] {
  const users = accepted.map((slot) => toHex((slots[slot] as BufferSlot).user));
  return devices.map(({ user }) => (users.includes(toHex(user)) ? 1 : 0));
}

/** Checks server and authorities: a close is durable before it happens and has enough slots, and all decisions agree. */
export function agreementProblem(
  server: readonly SecureBuffer[],
  authorities: readonly (readonly AuthorityBuffer[])[],
): Sentence {
  for (const [at, buffer] of server.entries()) {
    const problem = decisionProblem(
      buffer,
      authorities.map((buffers) => buffers[at] as AuthorityBuffer),
    );
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function decisionProblem({ status, accepted, descriptor }: SecureBuffer, all: readonly AuthorityBuffer[]): Sentence {
  // Checks an authority that was rolled back: it gives no key and no statement about its earlier actions.
  const known = all.filter((closing) => closing.status !== 'unknown');
  if (known.length === 0) return undefined;
  if (status === 'unknown') return 'the server gave up a buffer the authority remembers';
  for (const closing of known) {
    if (closing.status !== 'closed') continue;
    const closed = closing.closed?.accepted.map(({ slot }) => slot) ?? [];
    if (closed.length < descriptor.minimum) return `a buffer was closed with ${closed.length} slots, below the minimum`;
    if (canonical(closed) !== canonical(accepted))
      return `the authority closed slots ${closed}, and the server has ${status === 'filling' ? 'fixed nothing' : `fixed ${accepted}`}`;
  }
  const { threshold } = descriptor;
  const [closed, aborted] = ['closed', 'aborted'].map((end) => known.filter((one) => one.status === end).length) as [
    number,
    number,
  ];
  const isDecided = status === 'granted' || status === 'included' || status === 'quarantined';
  if (isDecided && closed < threshold)
    return all.length === 1
      ? `the server is ${status}, the authority ${known[0]?.status}`
      : `the server is ${status}, and ${closed} authorities closed the buffer`;
  if (status === 'aborted' && aborted < threshold)
    return 'the server aborted a buffer that the authority did not abort';
  return closed > 0 && aborted >= threshold ? 'enough authorities aborted a buffer that one of them closed' : undefined;
}

/** An acknowledgement is a promise: the slot is accepted, on disk, with these bytes. */
export function acknowledgementProblem(server: readonly SecureBuffer[], messages: readonly Message[]): Sentence {
  const broken = messages.find((message) => {
    if (message.kind !== 'acknowledgement') return false;
    const header = server[message.buffer]?.slots[message.value.slot]?.header;
    return header === undefined || !equalBytes(header.signature, message.value.signature);
  });
  return broken === undefined || !('user' in broken)
    ? undefined
    : `the update of user ${broken.user} was acknowledged, and the server does not have it`;
}

/** An update that was given to two buffers was freed from all but one of them. */
export function commitmentProblem(user: UserLocal, authority: readonly AuthorityBuffer[]): Sentence {
  const held = user.sessions.flatMap((records, at) => {
    const frozen = records.find(({ kind }) => kind === 'frozen');
    if (frozen?.kind !== 'frozen') return [];
    const { status, closed } = authority[at] as AuthorityBuffer;
    const isFree =
      status === 'aborted' ||
      (status === 'closed' && !closed?.accepted.some(({ joinTag }) => equalBytes(joinTag, frozen.receipt.joinTag)));
    return isFree ? [] : [at];
  });
  return held.length > 1 ? `one update is in buffers ${held.join(' and ')}` : undefined;
}

/** Once nothing more can happen, every update the server accepted has one fate, and the authority agrees. */
export function settledFate(
  { ticket }: BufferSlot,
  buffer: SecureBuffer,
  closing: AuthorityBuffer,
): SettledFate | undefined {
  const fate = fateOf(buffer, ticket.joinTag);
  const isIn = closing.closed?.accepted.some(({ joinTag }) => equalBytes(joinTag, ticket.joinTag)) ?? false;
  if (fate === undefined || fate === 'pending') return undefined;
  // An authority that lost its memory of the buffer contradicts nothing it signed before.
  if (closing.status === 'unknown') return fate;
  if (fate === 'aborted' || fate === 'unknown') return closing.status === fate ? fate : undefined;
  if (closing.status !== 'closed') return undefined;
  return isIn === (fate !== 'excluded') ? fate : undefined;
}
