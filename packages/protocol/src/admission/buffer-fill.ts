/** The fill of a buffer, as admission sees it. */
import { toHex } from '@basa/masking';
import type { BufferSlot, SecureBuffer } from '../server/secure-buffer.ts';
import { isGranted } from '../server/sum-state.ts';
import type { BufferFill, BufferStage } from './admission.ts';

export interface FillOptions {
  readonly now: number;
  /** A slot whose upload has not come this long after its deposit may have dropped out. */
  readonly lateMs: number;
  /** The number of devices that may still come; unlimited if it is missing. */
  readonly coming?: number | undefined;
}

export function fillOf(buffer: SecureBuffer, options: FillOptions): BufferFill {
  const { descriptor, slots } = buffer;
  const awaited = slots.filter((slot) => slot.status === 'assigned');
  return {
    users: slots.map(({ user }) => toHex(user)),
    awaited: awaited.map(({ user }) => toHex(user)),
    stage: stageOf(buffer, options),
    live: slots.length - lostOf(buffer, options).length,
    ...(descriptor.versions === 'one' && { version: descriptor.version }),
  };
}

/**
 * True if the buffer can never have enough updates, even if all expected devices come: only slots whose lease is over
 * count as lost.
 */
export function isHopeless(buffer: SecureBuffer, coming: number | undefined): boolean {
  return buffer.status === 'filling' && !canFill(buffer, buffer.slots.filter(isDropped).length, coming);
}

function stageOf(buffer: SecureBuffer, options: FillOptions): BufferStage {
  const { descriptor, slots, status } = buffer;
  if (status === 'frozen' || isGranted(buffer)) return 'waiting';
  if (status !== 'filling') return 'over';
  // Its places become free before its last lease ends. Otherwise a few drop-outs would delay all devices for that long.
  if (!canFill(buffer, lostOf(buffer, options).length, options.coming)) return 'over';
  if (slots.length < descriptor.bufferSize) return slots.length === 0 ? 'empty' : 'begun';
  return slots.some((slot) => slot.status === 'assigned') ? 'full' : 'waiting';
}

function canFill({ descriptor, slots }: SecureBuffer, lost: number, coming = Number.POSITIVE_INFINITY): boolean {
  const { bufferSize, minimum } = descriptor;
  return slots.length - lost + Math.min(coming, bufferSize - slots.length) >= minimum;
}

function lostOf({ descriptor, slots }: SecureBuffer, { now, lateMs }: FillOptions): readonly BufferSlot[] {
  const isLate = ({ status, ticket, graceMs }: BufferSlot): boolean =>
    status === 'assigned' && now > ticket.deadline - descriptor.uploadLeaseMs + graceMs + lateMs;
  return slots.filter((slot) => isDropped(slot) || isLate(slot));
}

function isDropped({ status }: BufferSlot): boolean {
  return status === 'dropped';
}
