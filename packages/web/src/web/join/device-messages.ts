/** What a page tells the worker that is its device, and what the device tells back. Plain data between threads. */
import type { ClientEvents, ContributionOutcome, Costs, Step } from '@basa/client/web';
import type { Loss } from '@basa/protocol';

/** Whom the device talks to and what it believes over them; `pieceBytes` for slow lines. */
interface DeviceSettings {
  readonly server: string;
  readonly authority: string;
  readonly authorityKey: string;
  readonly task: string;
  readonly token?: string;
  readonly pieceBytes?: number;
}

/** The network as the server describes it: a hint, which the client holds to the policy's manifest hash. */
export interface TaskHints {
  readonly model: unknown;
  /** As the policy has it. */
  readonly loss: Loss;
}

/** Its own data: an address at the server, or pictures of its own as bytes, one after the other. */
export type DeviceData =
  | { readonly kind: 'share'; readonly address: string }
  | { readonly kind: 'own'; readonly inputs: Uint8Array; readonly labels: Uint8Array };

export type ToDevice =
  | {
      readonly kind: 'join';
      readonly settings: DeviceSettings;
      readonly hints: TaskHints;
      readonly data: DeviceData;
      /** Contributions to make; without it, until it is told to leave. */
      readonly rounds?: number;
    }
  | { readonly kind: 'pause' }
  | { readonly kind: 'go' }
  | { readonly kind: 'leave' };

/** The picture of one update on its way out; at most so many of its words. */
export interface UpdateView {
  readonly floats: Float32Array;
  readonly quantised: Uint32Array;
  readonly masked: Uint32Array;
  /** How many values a word can have. */
  readonly size: number;
  /** How often each byte occurs in what leaves, and the chance that noise is as uneven. */
  readonly byteCounts: Uint32Array;
  readonly pValue: number;
}

export type FromDevice =
  | { readonly kind: 'connected'; readonly device: string; readonly examples: number; readonly isResuming: boolean }
  /** What the device has spent of a private task's budget. */
  | ({ readonly kind: 'privacy' } & ClientEvents['privacy'])
  | { readonly kind: 'model'; readonly version: number }
  | { readonly kind: 'trained'; readonly loss: number; readonly samples: number; readonly ms: number }
  | { readonly kind: 'step'; readonly step: Step; readonly sent?: number; readonly total?: number }
  | { readonly kind: 'slotted'; readonly ctx: string; readonly slot: number }
  | { readonly kind: 'update'; readonly view: UpdateView }
  | {
      readonly kind: 'accepted';
      readonly ctx: string;
      /** None in the one-shot mode. */
      readonly slot: number | undefined;
      readonly costs: Costs;
      readonly isResumed: boolean;
    }
  | { readonly kind: 'outcome'; readonly ctx: string; readonly outcome: ContributionOutcome }
  /** An update was not taken; the device goes on. */
  | { readonly kind: 'rejected'; readonly sentence: string; readonly detail?: string }
  /** Another round would meet the same no. */
  | { readonly kind: 'ended'; readonly sentence: string; readonly code: string }
  | { readonly kind: 'waiting'; readonly why: string }
  | { readonly kind: 'paused' }
  | { readonly kind: 'left'; readonly accepted: number }
  /** `code`: what was refused, by its name. */
  | { readonly kind: 'failed'; readonly message: string; readonly code?: string };
