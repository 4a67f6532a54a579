/** All events for logs, metrics and pages. They contain no secrets: no seeds, keys, updates or device keys. */
import type { Ctx, Slot, TaskId } from './brands.ts';
import type { RefusalReason } from './refusals.ts';

export type Party = 'user' | 'server' | 'authority';

export type BasaEvent =
  | { readonly kind: 'device-enrolled'; readonly task: TaskId }
  | { readonly kind: 'device-revoked' }
  | { readonly kind: 'buffer-drawn'; readonly ctx: Ctx; readonly task: TaskId; readonly version: number }
  | { readonly kind: 'seat-given'; readonly ctx: Ctx; readonly seats: number; readonly deposits: number }
  | { readonly kind: 'slot-assigned'; readonly ctx: Ctx; readonly slot: Slot }
  | { readonly kind: 'key-issued'; readonly ctx: Ctx; readonly slot: Slot }
  | { readonly kind: 'upload-accepted'; readonly ctx: Ctx; readonly slot: Slot; readonly voids: number }
  | {
      readonly kind: 'slot-dropped';
      readonly ctx: Ctx;
      readonly slot: Slot;
      readonly why: 'lease-over' | 'void-edge' | 'left-out';
    }
  | { readonly kind: 'buffer-frozen'; readonly ctx: Ctx; readonly accepted: number; readonly why: FreezeReason }
  | { readonly kind: 'buffer-closed'; readonly ctx: Ctx; readonly accepted: number; readonly dropped: number }
  | { readonly kind: 'buffer-included'; readonly ctx: Ctx; readonly version: number }
  | { readonly kind: 'buffer-quarantined'; readonly ctx: Ctx; readonly why: string; readonly slots: readonly number[] }
  | { readonly kind: 'buffer-aborted'; readonly ctx: Ctx }
  | { readonly kind: 'buffer-unknown'; readonly ctx: Ctx }
  | { readonly kind: 'authority-rolled-back'; readonly givenUp: number }
  /** It signed another sum of masks, or gave other guard words, than those that enough others agree on (one-shot mode). */
  | {
      readonly kind: 'authority-fault';
      readonly task: TaskId;
      /** The index of its seat. */
      readonly authority: number;
      readonly subject: 'mask-sum' | 'guard-words';
    }
  | { readonly kind: 'model-logged'; readonly task: TaskId; readonly version: number }
  | { readonly kind: 'server-fault'; readonly ctx: Ctx; readonly slots: readonly number[] }
  | {
      readonly kind: 'refused';
      readonly by: Party;
      readonly step: string;
      readonly reason: RefusalReason;
      readonly ctx?: Ctx;
    };

/** The reason why a server stops waiting: every slot is resolved, waiting does not pay, or the buffer expires. */
export type FreezeReason = 'resolved' | 'stalled' | 'expired';
