/** All events for logs, metrics and pages. They contain no secrets: no seeds, keys, updates or device keys. */
import type { Ctx, Slot, TaskId } from './brands.ts';
import type { RefusalReason } from './refusals.ts';

type Party = 'user' | 'server' | 'authority';

export type BasaEvent =
  | { readonly kind: 'device-enrolled'; readonly task: TaskId }
  | { readonly kind: 'device-revoked' }
  | { readonly kind: 'slot-assigned'; readonly ctx: Ctx; readonly slot: Slot }
  | { readonly kind: 'upload-accepted'; readonly ctx: Ctx; readonly slot: Slot; readonly voids: number }
  | { readonly kind: 'buffer-frozen'; readonly ctx: Ctx; readonly accepted: number }
  | { readonly kind: 'buffer-closed'; readonly ctx: Ctx; readonly accepted: number; readonly dropped: number }
  | { readonly kind: 'buffer-included'; readonly ctx: Ctx; readonly version: number }
  | { readonly kind: 'buffer-quarantined'; readonly ctx: Ctx; readonly why: string; readonly slots: readonly number[] }
  | { readonly kind: 'buffer-aborted'; readonly ctx: Ctx }
  | { readonly kind: 'buffer-unknown'; readonly ctx: Ctx }
  /** It signed another sum of masks, or gave other guard words, than those that enough others agree on. */
  | {
      readonly kind: 'authority-fault';
      readonly task: TaskId;
      /** Its index. */
      readonly authority: number;
      readonly subject: 'mask-sum' | 'guard-words';
    }
  | {
      readonly kind: 'refused';
      readonly by: Party;
      readonly step: string;
      readonly reason: RefusalReason;
      readonly ctx?: Ctx;
    };
