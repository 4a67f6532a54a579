/** How full a buffer is, as admission sees it. */
import { toHex } from '@basa/masking';
import type { BufferFill, BufferStage } from './admission.ts';
import type { BufferSlot, SecureBuffer } from './secure-buffer.ts';

/** `lateMs`: a slot whose upload has not come so long after its deposit may have dropped out. */
export function fillOf(buffer: SecureBuffer, now: number, lateMs: number): BufferFill {
  return { users: buffer.slots.map(({ user }) => toHex(user)), stage: stageOf(buffer, now, lateMs) };
}

function stageOf(buffer: SecureBuffer, now: number, lateMs: number): BufferStage {
  const { descriptor, slots, status } = buffer;
  if (status === 'frozen' || status === 'granted') return 'waiting';
  if (status !== 'filling') return 'over';
  const { bufferSize, minimum, uploadLeaseMs } = descriptor;
  const isLate = ({ ticket, graceMs }: BufferSlot): boolean => now > ticket.deadline - uploadLeaseMs + graceMs + lateMs;
  const lost = slots.filter((slot) => slot.status === 'dropped' || (slot.status === 'assigned' && isLate(slot)));
  // Its places are free before its last lease is over: else a few drop-outs would hold up everybody for that long.
  if (bufferSize - lost.length < minimum) return 'over';
  if (slots.length < bufferSize) return slots.length === 0 ? 'empty' : 'begun';
  return slots.some((slot) => slot.status === 'assigned') ? 'full' : 'waiting';
}
