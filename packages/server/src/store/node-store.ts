/** What nodes on one database tell each other by it: leases, seats, places. */
import type { Ctx, TaskId, UserId } from '@basa/protocol';
import type { PlaceStore } from './place-store.ts';

/** A lease that a node holds on the buffers of a task. What is written under it is refused once another node has taken it. */
export interface Fence {
  readonly name: string;
  readonly number: number;
}

export class LeaseLost extends Error {
  constructor({ name }: Fence) {
    super(`another node has taken the lease ${name}; nothing was written`);
    this.name = 'LeaseLost';
  }
}

export type SharedSeat =
  | {
      readonly kind: 'seated';
      readonly ctx: Ctx;
      /** Of the buffer, this one included. */
      readonly seats: number;
      readonly deposits: number;
    }
  /** Every seat is taken: whoever has a buffer drawn does it with this nonce. */
  | { readonly kind: 'needs-buffer'; readonly nonce: Uint8Array }
  /** A suspect waits for a buffer that it may sit down in. */
  | { readonly kind: 'must-wait' }
  | { readonly kind: 'not-running' };

export interface NodeStore extends PlaceStore {
  /** Takes the lease for `forMs` from now on. Returns its fence; undefined where another holder has it. */
  takeLease(name: string, holder: string, forMs: number): Promise<number | undefined>;
  /** Makes the lease last for `forMs` from now on, unless another holder has it. */
  renewLease(fence: Fence, forMs: number): Promise<void>;
  giveLeaseBack(name: string, holder: string): Promise<void>;
  /** A seat for as long: the one the device has, else in the oldest buffer with a free one; `only` in this buffer. */
  takeSeat(
    task: TaskId,
    user: UserId,
    wish: {
      readonly forMs: number;
      readonly freshNonce: Uint8Array;
      readonly only?: Ctx;
      /** How long before its expiry a buffer counts as one that has waited long. */
      readonly lateMs: number;
    },
  ): Promise<SharedSeat>;
  /** Forgets a nonce whose buffer cannot be used. */
  forgetDraw(task: TaskId, nonce: Uint8Array): Promise<void>;
  /** Seats that lapsed unused, and turns in the line for a place that were lost. */
  forgetSeats(): Promise<void>;
  /**
   * Notes that a node is alive now. Where none was for `minGapMs` or longer, every lease is longer by that gap, in the same
   * transaction. Returns the gap that was made up for.
   */
  noteAlive(minGapMs: number): Promise<number>;
}
