/** Places of devices that are under way, and the line of those that wait for one, shared by the nodes of one database. */
import type { Crowd, TaskId, UserId } from '@basa/protocol';

export interface PlaceWish {
  /** The device comes for a seat, with an update; else it asks before it trains. */
  readonly isForSeat: boolean;
  /** How long the place lasts; `isIdle` if the device was just found to have left one unused. */
  leaseMs(isIdle: boolean): number;
  /** A place, or how long the device keeps its turn in the line (0 if it is not in it). Only computes: it may be called again. */
  decide(crowd: Crowd): 'place' | { readonly turnMs: number };
}

export type PlaceTaken = (
  | { readonly kind: 'given'; readonly leftMs: number; readonly underWay: number }
  | { readonly kind: 'none' }
) & {
  /** Places that lapsed since somebody last asked. */
  readonly lapsed: number;
  /** The device left its last place unused; it ended then. */
  readonly idleSince?: number;
};

/** `used`: by a deposit. `returned`: by the device. `refused`: the device may not use it now. */
export type PlaceEnd = 'used' | 'returned' | 'refused';

export interface PlaceStore {
  /**
   * Gives a place: the living one that the device has, else a new one if `decide` says so.
   *
   * A place that ends without a deposit is remembered. It is idle only if its device then asks to train again: a slow device comes with its
   * update instead, and its deposit shows that the place was used. A place that was taken for a seat is idle if it is asked for again at all.
   */
  takePlace(task: TaskId, user: UserId, wish: PlaceWish): Promise<PlaceTaken>;
  hasPlace(task: TaskId, user: UserId): Promise<boolean>;
  /** Returns whether there was a living one. */
  endPlace(task: TaskId, user: UserId, how: PlaceEnd): Promise<boolean>;
  countPlaces(task: TaskId): Promise<Pick<Crowd, 'underWay' | 'waiting'>>;
  /** Counts with the burnt slots of the device. */
  noteIdlePlace(task: TaskId, user: UserId, at: number): Promise<void>;
}
