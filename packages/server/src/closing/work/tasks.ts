/** The tasks and answers of the worker: plain data, copied between threads. */
import type { LossName, ModelJson } from '@basa/learning';
import type { Ctx, PrefixVerdict, Scores, SumRules } from '@basa/protocol';
import type { BodyPlace } from '../../blobs/place.ts';

/** Given to every worker once. */
export interface WorkerOptions {
  readonly bodies: BodyPlace;
}

export interface Quarantined {
  readonly kind: 'quarantine';
  readonly why: string;
}

/** The mean of some coordinates: elements `from` to before `to` of the vectors, the first of them guard words. */
export interface SumShardTask {
  readonly kind: 'sum-shard';
  readonly ctx: Ctx;
  readonly rules: SumRules;
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

/** A mean; in a statistics task, the sums themselves, which are exact. */
export type SummedWords = Float32Array | Float64Array;

export type SummedShard =
  /** `prefix` comes with the first shard. */
  { readonly kind: 'shard'; readonly mean: SummedWords; readonly prefix?: GoodPrefix } | Quarantined;

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

export type WorkTask = SumShardTask | EvaluateTask;
export type WorkResult = SummedShard | Evaluated;
