/**
 * The secure buffer of the server, one object per buffer. It holds names, signatures and digests, never a vector or a
 * sealed seed: those are in the store, written before the record that relies on them.
 *
 *     filling --freeze--> frozen --grant--> granted --include--> included
 *        |                   |                 \--quarantine--> quarantined
 *        \------ abort ------\--> aborted, or unknown (from granted as well): the authority lost its memory of it
 *
 *     a slot:  assigned --accept--> accepted          (its bytes are durable)
 *                  \--lease over--> dropped            (single-use: never given to another)
 */
import type { Suite } from '@basa/masking';
import type { UploadHeader } from '../wire/authority-messages.ts';
import type { Slot, UserId } from '../wire/brands.ts';
import { ctxOf, type Descriptor } from '../wire/descriptor.ts';
import type { DrawnBuffer } from '../wire/drawn-buffer.ts';
import type { FreezeReason } from '../wire/events.ts';
import type { Ticket } from '../wire/slot-statements.ts';
import type { Transition } from '../wire/transition.ts';
import type { Deposit } from '../wire/user-messages.ts';
import { evolveSum, type SumFact, type SumState } from './sum-state.ts';

export interface BufferSlot {
  readonly user: UserId;
  readonly deviceKey: Uint8Array;
  readonly nonce: Uint8Array;
  readonly ticket: Ticket;
  /** The user's signature over (ctx, g, D). */
  readonly depositSignature: Uint8Array;
  readonly status: 'assigned' | 'accepted' | 'dropped';
  readonly header?: UploadHeader;
  /** The lease is extended by the time the server was down. */
  readonly graceMs: number;
}

export interface SecureBuffer extends SumState {
  readonly descriptor: Descriptor;
  readonly slotKeys: Uint8Array;
  readonly slots: readonly BufferSlot[];
  /** A, once frozen. */
  readonly accepted: readonly Slot[];
}

/** The facts from which a buffer is restored. */
export type BufferFact =
  | { readonly kind: 'deposited'; readonly slot: BufferSlot }
  | { readonly kind: 'accepted'; readonly header: UploadHeader }
  | { readonly kind: 'dropped'; readonly slot: Slot }
  | { readonly kind: 'extended'; readonly byMs: number }
  | { readonly kind: 'frozen'; readonly accepted: readonly Slot[]; readonly why: FreezeReason }
  | SumFact;

/** The records that a step wants to have durable: facts, and the deposit that comes with a slot. */
export type BufferRecord =
  | Exclude<BufferFact, { readonly kind: 'deposited' }>
  | { readonly kind: 'deposited'; readonly slot: BufferSlot; readonly deposit: Deposit };

export type BufferStep<Answer> = Transition<SecureBuffer, BufferRecord, Answer>;

/** A buffer that was drawn, with the policy of its task. */
export interface DescribedBuffer extends DrawnBuffer {
  readonly descriptor: Descriptor;
}

export function openSecureBuffer(suite: Suite, { descriptor, slotKeys }: DescribedBuffer): SecureBuffer {
  const sum: SumState = {
    ctx: ctxOf(suite, descriptor),
    task: descriptor.task,
    rules: descriptor,
    status: 'filling',
    users: [],
    votes: [],
  };
  return { ...sum, descriptor, slotKeys, slots: [], accepted: [] };
}

export function restoreSecureBuffer(
  suite: Suite,
  drawn: DescribedBuffer,
  records: readonly BufferFact[],
): SecureBuffer {
  return records.reduce(evolveSecureBuffer, openSecureBuffer(suite, drawn));
}

/** The buffer after one of its records. */
export function evolveSecureBuffer(buffer: SecureBuffer, entry: BufferFact): SecureBuffer {
  const withSlot = (slot: number, change: Partial<BufferSlot>): SecureBuffer => ({
    ...buffer,
    slots: buffer.slots.map((old, l) => (l === slot ? { ...old, ...change } : old)),
  });
  switch (entry.kind) {
    case 'deposited':
      return { ...buffer, slots: [...buffer.slots, entry.slot] };
    case 'accepted':
      return withSlot(entry.header.slot, { status: 'accepted', header: entry.header });
    case 'dropped':
      return withSlot(entry.slot, { status: 'dropped' });
    case 'extended':
      return {
        ...buffer,
        slots: buffer.slots.map((slot) =>
          slot.status === 'assigned' ? { ...slot, graceMs: slot.graceMs + entry.byMs } : slot,
        ),
      };
    case 'frozen':
      return { ...buffer, status: 'frozen', accepted: entry.accepted, users: usersOf(buffer, entry.accepted) };
    default:
      return evolveSum(buffer, entry);
  }
}

function usersOf({ slots }: SecureBuffer, accepted: readonly Slot[]): readonly UserId[] {
  return accepted.flatMap((slot) => slots[slot]?.user ?? []);
}
