/** The versions of a model, with what made them. */
import type { Ctx, ModelEntry, TaskId } from '@basa/protocol';
import type { Fence } from './node-store.ts';

export interface StoredModel {
  readonly task: TaskId;
  readonly version: number;
  readonly modelHash: Uint8Array;
  /** The buffer whose sum made it; zeros for version 0. */
  readonly ctx: Ctx;
  /** Where the parameters lie, and what the server's step remembers after it, if anything. */
  readonly blobKey: string;
  readonly stepKey?: string;
  /** Set where neither is kept any more. */
  readonly isForgotten?: true;
  /** Missing until the authority has logged it. */
  readonly entry?: ModelEntry;
  readonly madeAt: number;
  readonly accepted: number;
  readonly dropped: number;
  /** How many versions old its updates were on the average when they were applied; missing for version 0 and in paper mode. */
  readonly meanAge?: number;
  /** Means over its devices of the metrics that the task names. */
  readonly metrics?: Readonly<Record<string, number>>;
  readonly accuracy?: number;
  readonly loss?: number;
}

export interface ModelStore {
  /** The same again changes nothing; another one of its version or buffer is refused. */
  addModel(model: StoredModel, fence?: Fence): Promise<void>;
  /** Version 0 comes from no buffer. */
  logFirstModel(entry: ModelEntry): Promise<void>;
  model(task: TaskId, version: number): Promise<StoredModel | undefined>;
  /** The version made of this buffer's sum, logged or not. */
  modelOf(ctx: Ctx): Promise<StoredModel | undefined>;
  /** The last version; `logged`: that the authority has logged. */
  newestModel(task: TaskId, which: 'logged' | 'any'): Promise<StoredModel | undefined>;
  models(task: TaskId): Promise<readonly StoredModel[]>;
  /** Versions before this one whose parameters are kept, the oldest first. */
  keptModels(task: TaskId, which: { readonly before: number; readonly limit: number }): Promise<readonly StoredModel[]>;
  /** From now on the parameters of these versions are not kept; what is known of them stays. */
  forgetModels(task: TaskId, versions: readonly number[], fence?: Fence): Promise<void>;
  /** The names of all blobs that versions are made of. */
  modelBlobs(task: TaskId): Promise<readonly string[]>;
  setEvaluation(task: TaskId, version: number, result: { accuracy: number; loss: number }): Promise<void>;
}
