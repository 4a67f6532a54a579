/** What a server keeps, as a port: every method is one transaction, durable when its promise is fulfilled. */
import type { BufferFact, Ctx, Descriptor, ModelEntry, SecureBuffer, Slot, TaskId, UserId } from '@basa/protocol';

export type TaskState = 'running' | 'paused' | 'finished';

export interface StoredTask {
  readonly task: TaskId;
  /** JSON, as the operator gave it. */
  readonly specification: string;
  readonly state: TaskState;
  /** Why it is finished. */
  readonly why?: string;
  readonly createdAt: number;
}

export interface StoredBuffer {
  readonly ctx: Ctx;
  readonly task: TaskId;
  readonly descriptor: Descriptor;
  readonly drawnAt: number;
}

export interface StoredModel {
  readonly task: TaskId;
  readonly version: number;
  readonly modelHash: Uint8Array;
  /** The buffer whose sum made it; zeros for version 0. */
  readonly ctx: Ctx;
  /** Where the parameters lie, and what the server's step remembers after it, if anything. */
  readonly blobKey: string;
  readonly stepKey?: string;
  /** Missing until the authority has logged it. */
  readonly entry?: ModelEntry;
  readonly madeAt: number;
  readonly accepted: number;
  readonly dropped: number;
  readonly accuracy?: number;
  readonly loss?: number;
}

/** What one step of a buffer writes. A buffer that ends keeps its facts alone: deposits, inboxes and pieces go. */
export interface BufferChange {
  readonly facts: readonly BufferFact[];
  readonly status: SecureBuffer['status'];
  /** The deposit that came with a slot, and what it seals to each later slot, the next one first. */
  readonly deposit?: { readonly slot: Slot; readonly bytes: Uint8Array; readonly outbox: readonly Uint8Array[] };
  /** The pending model that the authority has logged: in the same transaction as "included". */
  readonly logged?: ModelEntry;
  /** The pending model of a buffer that was lost. */
  readonly withoutModel?: true;
  /** Users whose slots came to nothing. */
  readonly burnt?: { readonly users: readonly UserId[]; readonly at: number };
}

interface UploadPiece {
  readonly bodyHash: Uint8Array;
  readonly received: number;
}

export interface Store {
  addTask(task: StoredTask): Promise<void>;
  tasks(): Promise<readonly StoredTask[]>;
  setTaskState(task: TaskId, state: TaskState, why?: string): Promise<void>;

  addBuffer(buffer: StoredBuffer): Promise<void>;
  buffer(ctx: Ctx): Promise<StoredBuffer | undefined>;
  /** Buffers that are filling, frozen or granted, oldest first. */
  livingBuffers(): Promise<readonly StoredBuffer[]>;
  /**
   * Locks the buffer, hands the facts after number `known` to `step`, and writes what it returns. `step` may be called
   * again where the database asks for it: it must only compute.
   */
  advance<Result>(
    ctx: Ctx,
    known: number,
    step: (newFacts: readonly BufferFact[]) => { readonly change: BufferChange | undefined; readonly result: Result },
  ): Promise<{ readonly result: Result; readonly number: number }>;
  inbox(ctx: Ctx, slot: Slot): Promise<readonly Uint8Array[]>;
  deposits(ctx: Ctx): Promise<readonly Uint8Array[]>;

  /** What is durable of an upload that comes in several pieces, and of which body it is. */
  piece(ctx: Ctx, slot: Slot): Promise<UploadPiece | undefined>;
  setPiece(ctx: Ctx, slot: Slot, piece: UploadPiece): Promise<void>;
  burntSince(user: UserId, since: number): Promise<number>;
  /** Burnt slots from before this time count no more. */
  forgetBurnt(before: number): Promise<void>;

  addModel(model: StoredModel): Promise<void>;
  /** Version 0 comes from no buffer. */
  logFirstModel(entry: ModelEntry): Promise<void>;
  model(task: TaskId, version: number): Promise<StoredModel | undefined>;
  /** The version made of this buffer's sum, logged or not. */
  modelOf(ctx: Ctx): Promise<StoredModel | undefined>;
  /** The last version; `logged`: that the authority has logged. */
  newestModel(task: TaskId, which: 'logged' | 'any'): Promise<StoredModel | undefined>;
  models(task: TaskId): Promise<readonly StoredModel[]>;
  setEvaluation(task: TaskId, version: number, result: { accuracy: number; loss: number }): Promise<void>;

  note(name: string): Promise<Uint8Array | undefined>;
  setNote(name: string, value: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** Whether a buffer has come to its end, one way or another. */
export function isEnded(status: SecureBuffer['status']): boolean {
  return status !== 'filling' && status !== 'frozen' && status !== 'granted';
}
