/** The messages between a page and the worker that is its device, in both directions. Plain data between threads. */
import type { ClientEvents, Costs, Step, UploadFate } from '@basa/client/web';
import type { Training } from '@basa/protocol/policy';

/** The services of the device and the pins it trusts over them; `pieceBytes` for slow lines. */
interface DeviceSettings {
  readonly server: string;
  readonly authority: string;
  readonly authorityKey: string;
  readonly task: string;
  readonly token?: string;
  readonly pieceBytes?: number;
}

/** The network as the server describes it: a hint, which the client checks against the policy's manifest hash. */
export interface TaskHints {
  readonly model: unknown;
  /** From the policy. */
  readonly loss: Training.Loss;
}

/** Its own data: an address at the server, or its own pictures as bytes, one after the other. */
export type DeviceData =
  | { readonly kind: 'share'; readonly address: string }
  | { readonly kind: 'own'; readonly inputs: Uint8Array; readonly labels: Uint8Array };

export type ToDevice =
  | {
      readonly kind: 'join';
      readonly settings: DeviceSettings;
      readonly hints: TaskHints;
      readonly data: DeviceData;
      /** True if the page has said that the task runs in the unsafe mode of the paper. */
      readonly isPaper: boolean;
      /** True if the page has said that the sums have no noise. */
      readonly noNoise: boolean;
      /** The number of contributions. If missing, the device contributes until it leaves. */
      readonly rounds?: number;
    }
  | { readonly kind: 'pause' }
  | { readonly kind: 'go' }
  | { readonly kind: 'leave' };

/** The picture of one update on its way out, with a bounded number of its words. */
export interface UpdateView {
  readonly floats: Float32Array;
  readonly quantised: Uint32Array;
  readonly masked: Uint32Array;
  /** The number of values a word can have. */
  readonly size: number;
  /** The number of times each byte occurs in the upload, and the chance that noise is as uneven. */
  readonly byteCounts: Uint32Array;
  readonly pValue: number;
}

export type FromDevice =
  | { readonly kind: 'connected'; readonly device: string; readonly examples: number; readonly isResuming: boolean }
  /** The part of a private task's budget that the device has spent. */
  | ({ readonly kind: 'privacy' } & ClientEvents['privacy'])
  | { readonly kind: 'model'; readonly version: number }
  | { readonly kind: 'trained'; readonly loss: number; readonly samples: number; readonly ms: number }
  | { readonly kind: 'step'; readonly step: Step; readonly sent?: number; readonly total?: number }
  | { readonly kind: 'update'; readonly view: UpdateView }
  | {
      readonly kind: 'accepted';
      readonly ctx: string;
      /** In paper mode. */
      readonly position?: number;
      readonly costs: Costs;
      readonly isResumed: boolean;
    }
  | { readonly kind: 'fate'; readonly ctx: string; readonly fate: UploadFate }
  /** An update was not accepted; the device continues. */
  | { readonly kind: 'rejected'; readonly sentence: string; readonly detail?: string }
  /** Another round would meet the same refusal. */
  | { readonly kind: 'ended'; readonly sentence: string; readonly code: string }
  | { readonly kind: 'waiting'; readonly why: string }
  | { readonly kind: 'paused' }
  | { readonly kind: 'left'; readonly accepted: number }
  /** `code`: the code of the refusal. */
  | { readonly kind: 'failed'; readonly message: string; readonly code?: string };
