/** The disk of a one-shot federation's server: uploads with their verdicts, batches with their votes and sums of masks. */
import type { Ctx, RefusalReason } from '@basa/protocol';
import type { Batching } from '@basa/protocol/one-shot';
import type { Part } from '@basa/protocol/policy';
import type { Batch, Endorsement, Epoch, ModelStatement, ShotUpload } from '@basa/protocol/wire';

export interface StoredShot {
  readonly name: Ctx;
  readonly upload: ShotUpload;
  readonly body: Uint8Array;
  /** `waiting` until enough authorities have examined it; then good, or the reason why it is not. */
  readonly verdict: 'waiting' | 'good' | RefusalReason;
  /** As long as it is good. */
  readonly voters: Batching.Voters | undefined;
}

/** The uploads of an `aborted` batch may be in another one. */
export type BatchEnd = 'included' | 'quarantined' | 'aborted';

export interface StoredBatch {
  readonly ctx: Ctx;
  readonly batch: Batch;
  readonly votes: readonly Endorsement[];
  /** The agreed sums of masks, packed, by part. */
  readonly sums: ReadonlyMap<Part, Uint8Array>;
  /** The verdict on its sum, once it is opened: it then waits for a version. */
  readonly opened: 'good' | 'spoilt' | undefined;
  /** The version that names it. */
  readonly version: number | undefined;
  readonly end: BatchEnd | undefined;
}

export interface ShotDisk {
  readonly uploads: readonly StoredShot[];
  readonly batches: readonly StoredBatch[];
  /** By the hash of the statement. */
  readonly epochs: readonly (readonly [string, Epoch])[];
  readonly models: readonly ModelStatement[];
}

/** A batch that does not exist yet. */
export function newBatch(ctx: Ctx, batch: Batch): StoredBatch {
  return { ctx, batch, votes: [], sums: new Map(), opened: undefined, version: undefined, end: undefined };
}
