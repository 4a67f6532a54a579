/** The tasks and answers of the worker: plain data, copied between threads. */
import type { LossName, ModelJson } from '@basa/learning';
import type { Ctx, DescribedBuffer, KeysOf, PrefixVerdict, Scores, Slot, SumRules } from '@basa/protocol';
import type { BodyPlace } from '../../blobs/place.ts';
import type { PackedTerms } from './packed-terms.ts';

/** Given to every worker once. */
export interface WorkerOptions {
  readonly bodies: BodyPlace;
}

export interface StoredBody {
  readonly slot: Slot;
  /** Its blob. */
  readonly key: string;
}

/** The seeds behind the masks of some accepted slots. */
export interface OpenTermsTask {
  readonly kind: 'open-terms';
  readonly drawn: DescribedBuffer;
  /** Every fact of the buffer, in order. */
  readonly facts: readonly Uint8Array[];
  /** By slot: those of this share, and of the slots that are not accepted. */
  readonly deposits: readonly (Uint8Array | undefined)[];
  readonly keys: readonly KeysOf[];
  /** The accepted slots of this share. */
  readonly bodies: readonly StoredBody[];
}

export interface Quarantined {
  readonly kind: 'quarantine';
  readonly why: string;
  /** The slots that are known to have cheated. */
  readonly slots: readonly number[];
  /** No cheat is known, and keys of more authorities may open the sum. */
  readonly isUnsure?: boolean;
}

export type OpenedTerms = { readonly kind: 'terms'; readonly terms: PackedTerms } | Quarantined;

/** The mean of some coordinates: elements `from` to before `to` of the vectors, the first of them guard words. */
export interface SumShardTask {
  readonly kind: 'sum-shard';
  readonly ctx: Ctx;
  readonly rules: SumRules;
  readonly terms: PackedTerms;
  /** The bodies of all updates of the sum. */
  readonly keys: readonly string[];
  /** Blobs of packed vectors that are subtracted. */
  readonly subtracted: readonly string[];
  readonly from: number;
  readonly to: number;
  /** Known from the first shard on. */
  readonly weightSum?: number;
}

/** The words before the coordinates, which describe the whole sum. */
export type GoodPrefix = Extract<PrefixVerdict, { kind: 'good' }>;

export type SummedShard =
  /** `prefix` comes with the first shard. */
  { readonly kind: 'shard'; readonly mean: Float32Array; readonly prefix?: GoodPrefix } | Quarantined;

export interface EvaluateTask {
  readonly kind: 'evaluate';
  readonly model: ModelJson;
  readonly loss: LossName;
  readonly parameters: Float32Array;
  /** The blob of examples (`decodeDataset`), kept by the worker between calls. */
  readonly examples: string;
}

export interface Evaluated extends Scores {
  readonly kind: 'evaluated';
  readonly loss: number;
}

export type WorkTask = OpenTermsTask | SumShardTask | EvaluateTask;
export type WorkResult = OpenedTerms | SummedShard | Evaluated;
