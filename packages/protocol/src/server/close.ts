/** The server's side of the end of a buffer: fix A durably, ask the authority, and record what became of it. */
import { equalBytes } from '@basa/masking';
import type { CloseAnswer, CloseRequest, CloseRequestBody, UploadHeader } from '../wire/authority-messages.ts';
import { authorityMessages } from '../wire/authority-messages.ts';
import type { Millis, Slot } from '../wire/brands.ts';
import type { BasaEvent, FreezeReason } from '../wire/events.ts';
import type { Refused } from '../wire/refusals.ts';
import { refused } from '../wire/refusals.ts';
import type { Outcome } from '../wire/statements.ts';
import { isSigned, outcomeCodec } from '../wire/statements.ts';
import { declined, unchanged } from '../wire/transition.ts';
import type { BufferRecord, BufferSlot, BufferStep, SecureBuffer, ServerPorts } from './secure-buffer.ts';
import { evolveSecureBuffer } from './secure-buffer.ts';
import type { VoidEdge } from './void-edges.ts';
import { slotsToLeaveOut } from './void-edges.ts';

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

/** The request, the same each time it is asked for once A is fixed. */
export function closeRequestOf({ signer }: ServerPorts, buffer: SecureBuffer): CloseRequest | Refused {
  if (buffer.status === 'filling' || isLost(buffer)) return refused('not-frozen');
  const body: CloseRequestBody = {
    ctx: buffer.ctx,
    deposits: buffer.slots.map(({ user, nonce, ticket, depositSignature }) => ({
      user,
      nonce,
      root: ticket.root,
      signature: depositSignature,
    })),
    accepted: buffer.accepted,
    headers: buffer.accepted.map((slot) => (buffer.slots[slot] as BufferSlot).header as UploadHeader),
  };
  const { closeRequest } = authorityMessages(buffer.descriptor.bufferSize);
  return { ...body, signature: signer.sign(closeRequest.statement(body)) };
}

/** The authority closed the buffer with our A. Its keys are used from the answer and asked for again after a crash. */
export function recordGrant(
  ports: ServerPorts,
  buffer: SecureBuffer,
  answer: CloseAnswer,
): BufferStep<{ readonly kind: 'granted' }> {
  if (buffer.status === 'filling' || isLost(buffer)) return declined(buffer, refused('not-frozen'));
  if (buffer.status !== 'frozen') return unchanged(buffer, { kind: 'granted' });
  const { closeAnswer } = authorityMessages(buffer.descriptor.bufferSize);
  const { outcome } = answer;
  const isOurs =
    isSigned(ports.suite, closeAnswer, answer, ports.authorityKey) &&
    isOutcomeOf(ports, buffer, outcome) &&
    outcome.status === 'closed' &&
    outcome.accepted.length === buffer.accepted.length &&
    outcome.accepted.every(
      ({ slot, joinTag }, n) =>
        slot === buffer.accepted[n] && equalBytes(joinTag, (buffer.slots[slot] as BufferSlot).ticket.joinTag),
    );
  if (!isOurs) return declined(buffer, refused('outcome-invalid'));
  return decided(buffer, { kind: 'granted' }, []);
}

/** The sum was applied as this version; written in the same transaction as the sum, so that it counts exactly once. */
export function recordIncluded(buffer: SecureBuffer, version: number): BufferStep<{ readonly kind: 'included' }> {
  if (buffer.status === 'included') return unchanged(buffer, { kind: 'included' });
  if (buffer.status !== 'granted') return declined(buffer, refused('already-decided'));
  return {
    ...decided(buffer, { kind: 'included', version }, [{ kind: 'buffer-included', ctx: buffer.ctx, version }]),
    answer: { kind: 'included' },
  };
}

/** The sum is no sum of honest updates: it is not applied, and counted against its users. */
export function recordQuarantine(
  buffer: SecureBuffer,
  why: string,
  slots: readonly number[],
): BufferStep<{ readonly kind: 'quarantined' }> {
  if (buffer.status === 'quarantined') return unchanged(buffer, { kind: 'quarantined' });
  if (buffer.status !== 'granted') return declined(buffer, refused('already-decided'));
  return {
    ...decided(buffer, { kind: 'quarantined', why, slots }, [
      { kind: 'buffer-quarantined', ctx: buffer.ctx, why, slots },
    ]),
    answer: { kind: 'quarantined' },
  };
}

/** The authority aborted the buffer, so that its updates may go elsewhere, or lost its memory of it, so that they may not. */
export function recordAbort(
  ports: ServerPorts,
  buffer: SecureBuffer,
  outcome: Outcome,
): BufferStep<{ readonly kind: 'aborted' | 'unknown' }> {
  const { status } = buffer;
  if (status === 'aborted' || status === 'unknown') return unchanged(buffer, { kind: status });
  // A granted sum can still be lost: an authority that forgot the close never logs a model made of it.
  const isOpen = status === 'filling' || status === 'frozen' || (status === 'granted' && outcome.status === 'unknown');
  if (!isOpen) return declined(buffer, refused('already-decided'));
  if (!isOutcomeOf(ports, buffer, outcome)) return declined(buffer, refused('outcome-invalid'));
  if (outcome.status === 'aborted')
    return decided(buffer, { kind: 'aborted' }, [{ kind: 'buffer-aborted', ctx: buffer.ctx }]);
  if (outcome.status === 'unknown')
    return decided(buffer, { kind: 'unknown' }, [{ kind: 'buffer-unknown', ctx: buffer.ctx }]);
  return declined(buffer, refused('outcome-undecided'));
}

function isLost({ status }: SecureBuffer): boolean {
  return status === 'aborted' || status === 'unknown';
}

function decided<Entry extends BufferRecord>(
  buffer: SecureBuffer,
  entry: Entry,
  events: readonly BasaEvent[],
): BufferStep<Entry> {
  return { state: evolveSecureBuffer(buffer, entry), records: [entry], answer: entry, events };
}

function isOutcomeOf({ suite, authorityKey }: ServerPorts, { ctx }: SecureBuffer, outcome: Outcome): boolean {
  return equalBytes(outcome.ctx, ctx) && isSigned(suite, outcomeCodec, outcome, authorityKey);
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
