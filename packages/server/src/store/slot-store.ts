/** How many unfinished slots a device has. */
import type { TaskId, UserId } from '@basa/protocol';

/** How many unfinished slots of a task a device may have: with more it could open one buffer after the other. */
export const MAX_UNFINISHED_SLOTS = 2;

export interface UnfinishedSlots {
  readonly slots: number;
  /** How long until the first of them counts no more. */
  readonly freeInMs: number;
}

/** A deposit of a device that has too many slots already; nothing was written. */
export class TooManySlots extends Error {
  readonly freeInMs: number;

  constructor({ slots, freeInMs }: UnfinishedSlots) {
    super(`the device has ${slots} slots that are not finished`);
    this.name = 'TooManySlots';
    this.freeInMs = freeInMs;
  }
}

export interface SlotStore {
  /** Slots of the device in the task whose lease runs and whose upload was not accepted. */
  unfinishedSlots(task: TaskId, user: UserId): Promise<UnfinishedSlots>;
  /** Slots whose lease is over count no more. */
  forgetLapsedSlots(): Promise<void>;
}
