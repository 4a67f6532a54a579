/** Accepts a masked upload into its slot. The header is checked before the body is read, and exactly the announced bytes are accepted. */
import { equalBytes } from '@basa/masking';
import { authorityMessages, type UploadHeader } from '../wire/authority-messages.ts';
import type { Millis, Slot } from '../wire/brands.ts';
import { isEndorsed } from '../wire/council.ts';
import type { BasaEvent } from '../wire/events.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { type BufferSealing, isSelfName } from '../wire/sealing.ts';
import { isSigned } from '../wire/signed.ts';
import { isSameSlot, receiptCodec } from '../wire/slot-statements.ts';
import { declined, unchanged } from '../wire/transition.ts';
import { uploadLayout } from '../wire/upload-layout.ts';
import type { ServerPorts } from './ports.ts';
import {
  type BufferRecord,
  type BufferSlot,
  type BufferStep,
  evolveSecureBuffer,
  type SecureBuffer,
} from './secure-buffer.ts';

export type UploadVerdict = { readonly kind: 'expected' } | { readonly kind: 'accepted-before' } | Refused;

/** The checks of a server before it reads a body. */
export function judgeHeader(
  ports: ServerPorts,
  buffer: SecureBuffer,
  header: UploadHeader,
  now: Millis,
): UploadVerdict {
  const slot = buffer.slots[header.slot];
  if (!equalBytes(header.ctx, buffer.ctx)) return refused('buffer-unknown');
  if (slot === undefined) return refused('slot-unknown');
  const problem = headerProblem(ports, buffer, slot, header);
  if (problem !== undefined) return problem;
  if (slot.header !== undefined) {
    const { uploadHeader } = authorityMessages(buffer.descriptor.bufferSize);
    // Compares the signed words, not the signature: some keys sign the same words differently each time.
    const isSame = equalBytes(uploadHeader.statement(slot.header), uploadHeader.statement(header));
    return isSame ? { kind: 'accepted-before' } : refused('upload-differs', { slots: [header.slot] });
  }
  if (slot.status === 'dropped') return refused('slot-dropped');
  if (buffer.status !== 'filling') return refused('buffer-over');
  return isLeaseOver(slot, now) ? refused('lease-over') : { kind: 'expected' };
}

/** A received body, which is durable by now. */
export interface ReceivedBody {
  readonly hash: Uint8Array;
  readonly bytes: number;
  /** True if every element of the vector is below q. */
  readonly isCanonical: boolean;
}

export function acceptUpload(
  ports: ServerPorts,
  buffer: SecureBuffer,
  header: UploadHeader,
  body: ReceivedBody,
  sealing: Pick<BufferSealing, 'sealedBytes'>,
  now: Millis,
): BufferStep<{ readonly kind: 'accepted' }> {
  const refuse = (no: Refused) =>
    declined(buffer, no, [{ kind: 'refused', by: 'server', step: 'upload', reason: no.reason }]);
  const verdict = judgeHeader(ports, buffer, header, now);
  if (verdict.kind === 'refused') return refuse(verdict);
  const { bodyBytes } = uploadLayout(buffer.descriptor, header, sealing);
  const isWhole = body.bytes === bodyBytes && body.isCanonical && equalBytes(body.hash, header.bodyHash);
  if (!isWhole) return refuse(refused('body-mismatch'));
  if (verdict.kind === 'accepted-before') return unchanged(buffer, { kind: 'accepted' });
  const entry: BufferRecord = { kind: 'accepted', header };
  return {
    state: evolveSecureBuffer(buffer, entry),
    records: [entry],
    answer: { kind: 'accepted' },
    events: [{ kind: 'upload-accepted', ctx: buffer.ctx, slot: header.slot, voids: header.voids.length }],
  };
}

/** Drops every slot whose lease is over, and returns the time of the next call. */
export function tickBuffer(buffer: SecureBuffer, now: Millis): BufferStep<{ readonly nextAt: Millis | undefined }> {
  const waiting = buffer.status === 'filling' ? buffer.slots.filter(({ status }) => status === 'assigned') : [];
  const overdue = waiting.filter((slot) => isLeaseOver(slot, now)).map(({ ticket }) => ticket.slot);
  const records = overdue.map((slot): BufferRecord => ({ kind: 'dropped', slot }));
  const deadlines = waiting
    .filter((slot) => !isLeaseOver(slot, now))
    .map(({ ticket, graceMs }) => ticket.deadline + graceMs);
  return {
    state: records.reduce(evolveSecureBuffer, buffer),
    records,
    answer: { nextAt: deadlines.length > 0 ? ((Math.min(...deadlines) + 1) as Millis) : undefined },
    events: overdue.map(
      (slot): BasaEvent => ({ kind: 'slot-dropped', ctx: buffer.ctx, slot: slot as Slot, why: 'lease-over' }),
    ),
  };
}

/** The server was down for this long: no device loses a lease by it. */
export function extendLeases(buffer: SecureBuffer, byMs: number): BufferStep<{ readonly kind: 'extended' }> {
  const entry: BufferRecord = { kind: 'extended', byMs };
  return { state: evolveSecureBuffer(buffer, entry), records: [entry], answer: { kind: 'extended' }, events: [] };
}

function isLeaseOver({ ticket, graceMs }: BufferSlot, now: Millis): boolean {
  return now > ticket.deadline + graceMs;
}

function headerProblem(
  { suite }: ServerPorts,
  buffer: SecureBuffer,
  slot: BufferSlot,
  header: UploadHeader,
): Refused | undefined {
  const { ticket, deviceKey } = slot;
  if (!equalBytes(header.joinTag, ticket.joinTag) || !equalBytes(header.view, ticket.view))
    return refused('view-mismatch');
  if (header.voids.some((earlier) => earlier >= header.slot)) return refused('slot-unknown');
  if (!isSelfName(buffer.descriptor, header.selfName))
    return refused('body-mismatch', { detail: 'the header names no self seed' });
  const { receipt } = header;
  if (!isSameSlot(receipt, ticket) || !isEndorsed(suite, receiptCodec, buffer.descriptor, receipt))
    return refused('receipt-invalid');
  const { uploadHeader } = authorityMessages(buffer.descriptor.bufferSize);
  return isSigned(suite, uploadHeader, header, deviceKey) ? undefined : refused('signature-invalid');
}
