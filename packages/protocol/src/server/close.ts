/** The server's side of the end of a buffer: fixes A durably, asks the authority, and records the result. */
import { equalBytes } from '@basa/masking';
import {
  authorityMessages,
  type CloseAnswer,
  type CloseRequest,
  type CloseRequestBody,
  type UploadHeader,
} from '../wire/authority-messages.ts';
import type { Millis, Slot } from '../wire/brands.ts';
import { closingOf, type HashedClosing, listedSlots } from '../wire/closing.ts';
import { type Endorsement, isEndorsedByOne, isSignedBySeat, joined } from '../wire/council.ts';
import type { BasaEvent, FreezeReason } from '../wire/events.ts';
import { agreedOutcome, isOutcomeOf, type Outcome, type OutcomeOf } from '../wire/outcome.ts';
import { isRefused, type Refused, refused } from '../wire/refusals.ts';
import { declined, unchanged } from '../wire/transition.ts';
import { type Vote, voteCodec } from '../wire/vote.ts';
import type { ServerPorts } from './ports.ts';
import {
  type BufferRecord,
  type BufferSlot,
  type BufferStep,
  evolveSecureBuffer,
  type SecureBuffer,
} from './secure-buffer.ts';
import { decided, isGranted, isLost } from './sum-state.ts';
import { slotsToLeaveOut, type VoidEdge } from './void-edges.ts';

/** Fixes A: the accepted slots without a minimum vertex cover of the void edges. Nothing is uploaded afterwards. */
export function freezeBuffer(
  buffer: SecureBuffer,
  why: FreezeReason,
  now: Millis,
): BufferStep<{ readonly accepted: readonly Slot[] }> {
  if (isLost(buffer)) return declined(buffer, refused('already-decided'));
  if (buffer.status !== 'filling') return unchanged(buffer, { accepted: buffer.accepted });
  const problem = reasonProblem(buffer, why, now);
  if (problem !== undefined) return declined(buffer, problem);
  const uploaded = buffer.slots.filter(({ status }) => status === 'accepted').map(({ ticket }) => ticket.slot);
  const leftOut = slotsToLeaveOut(voidEdges(buffer));
  const accepted = uploaded.filter((slot) => !leftOut.includes(slot));
  if (accepted.length < buffer.descriptor.minimum) {
    return declined(buffer, refused('too-few', { slots: accepted }));
  }
  const entry: BufferRecord = { kind: 'frozen', accepted, why };
  const { ctx } = buffer;
  return {
    state: evolveSecureBuffer(buffer, entry),
    records: [entry],
    answer: { accepted },
    events: [
      { kind: 'buffer-frozen', ctx, accepted: accepted.length, why },
      ...buffer.slots.flatMap(({ ticket, status }): BasaEvent[] => {
        if (accepted.includes(ticket.slot) || status === 'dropped') return [];
        return [
          { kind: 'slot-dropped', ctx, slot: ticket.slot, why: status === 'accepted' ? 'void-edge' : 'left-out' },
        ];
      }),
    ],
  };
}

/** Returns the request, which is the same each time once A is fixed, except for the gathered votes. */
export function closeRequestOf(
  { signer }: ServerPorts,
  buffer: SecureBuffer,
  votes: readonly Endorsement[] = [],
): CloseRequest | Refused {
  if (buffer.status === 'filling' || isLost(buffer)) return refused('not-frozen');
  const body: CloseRequestBody = {
    ctx: buffer.ctx,
    deposits: buffer.slots.map(({ deviceKey, nonce, ticket, depositSignature }) => ({
      deviceKey,
      nonce,
      root: ticket.root,
      signature: depositSignature,
    })),
    accepted: buffer.accepted,
    headers: buffer.accepted.map((slot) => (buffer.slots[slot] as BufferSlot).header as UploadHeader),
    votes,
  };
  const { closeRequest } = authorityMessages(buffer.descriptor.bufferSize);
  return { ...body, signature: signer.sign(closeRequest.statement(body)) };
}

/** The answer of one authority. */
export interface CloseAnswerOf {
  /** Its index. */
  readonly authority: number;
  readonly answer: CloseAnswer;
}

/** Enough authorities closed the buffer with our A: their keys open the sum. */
export interface Grant {
  readonly kind: 'grant';
  readonly votes: readonly Endorsement[];
  readonly answers: readonly CloseAnswerOf[];
}

/**
 * Asks every authority with a part in the buffer to vote for the close. With enough votes, it asks the available authorities for the keys.
 * If one vote is enough, the answer to the vote already contains the keys. After a crash it starts again, and authorities repeat their
 * answers.
 */
export function* closeSteps(
  ports: ServerPorts,
  buffer: SecureBuffer,
): Generator<CloseRequest, Grant | Refused, readonly CloseAnswerOf[]> {
  const { threshold } = buffer.descriptor;
  let votes: readonly Endorsement[] = buffer.votes;
  for (const _ of ['vote', 'release']) {
    const request = closeRequestOf(ports, buffer, votes);
    if (isRefused(request)) return request;
    const answers = (yield request).filter((one) => isCloseAnswer(ports, buffer, one));
    const closing = closingOf(ports.suite, request, listedSlots(ports.suite, request));
    votes = joined([...votes, ...answers.flatMap((one) => votesIn(ports, buffer, closing, one))]);
    const closed = answers.filter(({ answer }) => isOurClose(buffer, answer.outcome));
    if (closed.length >= threshold) return { kind: 'grant', votes, answers: closed };
    if (votes.length < threshold) return refused('too-few-votes', { detail: `${votes.length} of ${threshold}` });
  }
  return refused('too-few-votes', { detail: 'too few authorities released their keys' });
}

/** The votes that closed a granted buffer, for authorities that had no part in it. */
export function votesFor({ suite, signer }: ServerPorts, buffer: SecureBuffer): readonly Vote[] {
  const request = closeRequestOf({ suite, signer }, buffer);
  if (isRefused(request) || buffer.votes.length === 0) return [];
  const { hash: closing } = closingOf(suite, request, listedSlots(suite, request));
  return [{ task: buffer.descriptor.task, ctx: buffer.ctx, closing, endorsements: buffer.votes }];
}

/** True if the answer is this authority's, about this buffer. */
export function isCloseAnswer(
  { suite }: ServerPorts,
  buffer: SecureBuffer,
  { authority, answer }: CloseAnswerOf,
): boolean {
  const { descriptor, ctx } = buffer;
  const hasPart = descriptor.parts.some((part) => part.authority === authority);
  if (!hasPart || !isOutcomeOf(suite, descriptor, ctx, { authority, outcome: answer.outcome })) return false;
  const { closeAnswer } = authorityMessages(descriptor.bufferSize);
  return isSignedBySeat(suite, closeAnswer, descriptor, authority, answer);
}

/**
 * True if the answer advances this close: it brings a vote for it or, once there are enough, the closed set is ours. An
 * authority that signs something else has not answered.
 */
export function isUsefulAnswer(
  ports: ServerPorts,
  buffer: SecureBuffer,
  request: CloseRequest,
  one: CloseAnswerOf,
): boolean {
  if (!isCloseAnswer(ports, buffer, one)) return false;
  if (isOurClose(buffer, one.answer.outcome)) return true;
  const closing = closingOf(ports.suite, request, listedSlots(ports.suite, request));
  return request.votes.length < buffer.descriptor.threshold && votesIn(ports, buffer, closing, one).length > 0;
}

function votesIn(
  { suite }: ServerPorts,
  { ctx, descriptor }: SecureBuffer,
  { hash }: HashedClosing,
  { authority, answer: { vote } }: CloseAnswerOf,
): readonly Endorsement[] {
  const isOurs =
    equalBytes(vote.task, descriptor.task) &&
    equalBytes(vote.ctx, ctx) &&
    equalBytes(vote.closing, hash) &&
    isEndorsedByOne(suite, voteCodec, descriptor, vote, authority);
  return isOurs ? vote.endorsements : [];
}

function isOurClose({ accepted, slots }: SecureBuffer, outcome: Outcome): boolean {
  return (
    outcome.status === 'closed' &&
    outcome.accepted.length === accepted.length &&
    outcome.accepted.every(
      ({ slot, joinTag }, n) => slot === accepted[n] && equalBytes(joinTag, (slots[slot] as BufferSlot).ticket.joinTag),
    )
  );
}

/** Enough authorities aborted the buffer, so that its updates may go elsewhere, or lost their memory of it, so that they may not. */
export function recordAbort(
  { suite }: ServerPorts,
  buffer: SecureBuffer,
  outcomes: readonly OutcomeOf[],
): BufferStep<{ readonly kind: 'aborted' | 'unknown' }> {
  const { status, descriptor, ctx } = buffer;
  if (status === 'aborted' || status === 'unknown') return unchanged(buffer, { kind: status });
  const outcome = agreedOutcome(suite, descriptor, ctx, outcomes);
  // A granted sum can still be lost: an authority that forgot the close never logs a model made from it.
  const isOpen = status === 'filling' || status === 'frozen' || (isGranted(buffer) && outcome?.status === 'unknown');
  if (!isOpen) return declined(buffer, refused('already-decided'));
  if (outcome === undefined) {
    const isGood = outcomes.every((one) => isOutcomeOf(suite, descriptor, ctx, one));
    return declined(buffer, refused(isGood ? 'outcome-undecided' : 'outcome-invalid'));
  }
  if (outcome.status === 'aborted') return decided(buffer, { kind: 'aborted' }, [{ kind: 'buffer-aborted', ctx }]);
  if (outcome.status === 'unknown') return decided(buffer, { kind: 'unknown' }, [{ kind: 'buffer-unknown', ctx }]);
  return declined(buffer, refused('outcome-undecided'));
}

function reasonProblem({ descriptor, slots }: SecureBuffer, why: FreezeReason, now: Millis): Refused | undefined {
  const isResolved = slots.length === descriptor.bufferSize && slots.every(({ status }) => status !== 'assigned');
  if (why === 'resolved' && !isResolved) return refused('not-pending');
  return why === 'expired' && now < descriptor.expiry ? refused('not-pending') : undefined;
}

/** Pairs of accepted slots that share no mask. */
function voidEdges({ slots }: SecureBuffer): readonly VoidEdge[] {
  return slots.flatMap(({ header }) =>
    header === undefined
      ? []
      : header.voids.filter((slot) => slots[slot]?.status === 'accepted').map((slot): VoidEdge => [slot, header.slot]),
  );
}
