/** The buffers that a server keeps: facts, deposits and inboxes. */
import type { BufferFact, Ctx, DescribedBuffer, ModelEntry, SecureBuffer, Slot, TaskId, UserId } from '@basa/protocol';
import type { Fence } from './node-store.ts';
import type { Verdict } from './suspicion-store.ts';

export interface StoredBuffer extends DescribedBuffer {
  readonly ctx: Ctx;
  readonly task: TaskId;
  readonly drawnAt: number;
}

/** What one step of a buffer writes. A buffer that ends keeps its facts alone: deposits, inboxes and pieces go. */
export interface BufferChange {
  readonly facts: readonly BufferFact[];
  readonly status: SecureBuffer['status'];
  /** The deposit that came with a slot, and what it seals to each later slot, the next one first. */
  readonly deposit?: {
    readonly slot: Slot;
    readonly task: TaskId;
    readonly user: UserId;
    /** When its lease is over, as long as the server is up. */
    readonly until: number;
    readonly bytes: Uint8Array;
    readonly outbox: readonly Uint8Array[];
  };
  /** The pending model that the authority has logged: in the same transaction as "included". */
  readonly logged?: ModelEntry;
  /** The pending model of a buffer that was lost. */
  readonly withoutModel?: true;
  /** Users whose slots came to nothing. */
  readonly burnt?: { readonly users: readonly UserId[]; readonly at: number };
  /** How its sum came out. */
  readonly verdict?: Verdict;
}

export interface BufferStore {
  /** `nonce`: what it was drawn with, which is used up by this. */
  addBuffer(buffer: StoredBuffer, nonce?: Uint8Array): Promise<void>;
  buffer(ctx: Ctx): Promise<StoredBuffer | undefined>;
  /** Buffers that are filling, frozen or granted, oldest first, with the number of their last fact. */
  livingBuffers(): Promise<readonly (StoredBuffer & { readonly number: number })[]>;
  /**
   * Locks the buffer, hands the facts after number `known` and the time to `step`, and writes what it returns. `step` may be
   * called again where the database asks for it: it must only compute. Throws `TooManySlots` for a deposit of a device that
   * has to finish others first.
   */
  advance<Result>(
    ctx: Ctx,
    known: number,
    step: (
      newFacts: readonly BufferFact[],
      now: number,
    ) => { readonly change: BufferChange | undefined; readonly result: Result },
    fence?: Fence,
  ): Promise<{ readonly result: Result; readonly number: number }>;
  /** The facts after number `known`, as they are now. */
  facts(ctx: Ctx, known: number): Promise<readonly BufferFact[]>;
  inbox(ctx: Ctx, slot: Slot): Promise<readonly Uint8Array[]>;
  deposits(ctx: Ctx): Promise<readonly Uint8Array[]>;
  /** Burnt slots and idle places of the device. */
  burntSince(user: UserId, since: number): Promise<number>;
  /** Removes the facts of buffers that have ended, the oldest first, `limit` at a time. Returns how many there were. */
  forgetBuffers(
    task: TaskId,
    which: { readonly drawnBefore: number; readonly limit: number },
    fence?: Fence,
  ): Promise<number>;
  /** Burnt slots and idle places from before this time count no more. */
  forgetBurnt(before: number): Promise<void>;
}

/** Whether a buffer has come to its end, one way or another. */
export function isEnded(status: SecureBuffer['status']): boolean {
  return status !== 'filling' && status !== 'frozen' && status !== 'granted';
}
