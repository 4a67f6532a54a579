/** The shape of every step of the core: nothing of the answer may leave before the records are durable. */

import type { Ctx, Slot, TaskId } from './names.ts';
import type { RefusalReason, Refused } from './refusals.ts';

export interface Transition<State, Entry, Answer> {
  readonly state: State;
  readonly records: readonly Entry[];
  readonly answer: Answer | Refused;
  readonly events: readonly BasaEvent[];
}

/** A step that changes nothing: the answer was given before, or only reads. */
export function unchanged<State, Answer>(state: State, answer: Answer): Transition<State, never, Answer> {
  return { state, records: [], answer, events: [] };
}

/** A refusal changes nothing either. */
export function declined<State>(
  state: State,
  no: Refused,
  events: readonly BasaEvent[] = [],
): Transition<State, never, never> {
  return { state, records: [], answer: no, events };
}

type Party = 'user' | 'server' | 'authority';

/** All events for logs, metrics and pages. They contain no secrets: no seeds, keys, updates or device keys. */
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
