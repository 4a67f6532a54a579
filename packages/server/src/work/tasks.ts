/** What the worker is asked, and what it answers: plain data, copied between threads. */
import type { Layer, Shape } from '@basa/learning';
import type { ReleasedKey, Slot } from '@basa/protocol';

export interface OpenSumTask {
  readonly kind: 'open-sum';
  readonly descriptor: Uint8Array;
  /** Every fact of the buffer, in order, and its deposits by slot. */
  readonly facts: readonly Uint8Array[];
  readonly deposits: readonly Uint8Array[];
  readonly keys: readonly ReleasedKey[];
  readonly blobFolder: string;
  /** Where the body of each accepted slot lies. */
  readonly bodies: readonly { readonly slot: Slot; readonly key: string }[];
}

export type OpenedSum =
  | { readonly kind: 'mean'; readonly mean: Float32Array }
  | { readonly kind: 'quarantine'; readonly why: string; readonly slots: readonly number[] };

export interface EvaluateTask {
  readonly kind: 'evaluate';
  readonly model: ModelOptions;
  readonly parameters: Float32Array;
  /** A file of examples (`decodeDataset`), kept by the worker between calls. */
  readonly examples: string;
}

/** A network as a task specification writes it. */
export interface ModelOptions {
  readonly name?: string;
  readonly input: Shape;
  readonly layers: readonly Layer[];
}

export interface Evaluated {
  readonly kind: 'evaluated';
  readonly accuracy: number;
  readonly loss: number;
}

export type WorkTask = OpenSumTask | EvaluateTask;
export type WorkResult = OpenedSum | Evaluated;
