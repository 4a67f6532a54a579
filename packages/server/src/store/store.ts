/** What a server keeps, as a port: every method is one transaction, durable when its promise is fulfilled. */
import { toHex } from '@basa/masking';
import type { BufferFact, Ctx, DrawnBuffer, ModelEntry, SecureBuffer, Slot, TaskId, UserId } from '@basa/protocol';
import type { SuspicionStore, Verdict } from './suspicion-store.ts';

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

export interface StoredBuffer extends DrawnBuffer {
  readonly ctx: Ctx;
  readonly task: TaskId;
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

/** What one step of a buffer writes. A buffer that ends keeps its facts alone: deposits, inboxes and pieces go. */
export interface BufferChange {
  readonly facts: readonly BufferFact[];
  readonly status: SecureBuffer['status'];
  /** The deposit that came with a slot, and what it seals to each later slot, the next one first. */
  readonly deposit?: {
    readonly slot: Slot;
    readonly task: TaskId;
    readonly user: UserId;
    /** When its lease is over, as long as the server is up. */
    readonly until: number;
    readonly bytes: Uint8Array;
    readonly outbox: readonly Uint8Array[];
  };
  /** The pending model that the authority has logged: in the same transaction as "included". */
  readonly logged?: ModelEntry;
  /** The pending model of a buffer that was lost. */
  readonly withoutModel?: true;
  /** Users whose slots came to nothing. */
  readonly burnt?: { readonly users: readonly UserId[]; readonly at: number };
  /** How its sum came out. */
  readonly verdict?: Verdict;
}

interface UploadPiece {
  readonly bodyHash: Uint8Array;
  readonly received: number;
}

/** A lease that a node holds on the buffers of a task. What is written under it is refused once another node has taken it. */
export interface Fence {
  readonly name: string;
  readonly number: number;
}

export class LeaseLost extends Error {
  constructor({ name }: Fence) {
    super(`another node has taken the lease ${name}; nothing was written`);
    this.name = 'LeaseLost';
  }
}

/** How many unfinished slots of a task a device may have: with more it could open one buffer after the other. */
export const MAX_UNFINISHED_SLOTS = 2;

export interface UnfinishedSlots {
  readonly slots: number;
  /** How long until the first of them counts no more. */
  readonly freeInMs: number;
}

/** A deposit of a device that has too many slots already; nothing was written. */
export class TooManySlots extends Error {
  readonly freeInMs: number;

  constructor({ slots, freeInMs }: UnfinishedSlots) {
    super(`the device has ${slots} slots that are not finished`);
    this.name = 'TooManySlots';
    this.freeInMs = freeInMs;
  }
}

export interface SlotStore {
  /** Slots of the device in the task whose lease runs and whose upload was not accepted. */
  unfinishedSlots(task: TaskId, user: UserId): Promise<UnfinishedSlots>;
  /** Slots whose lease is over count no more. */
  forgetLapsedSlots(): Promise<void>;
}

/** Up to which number of which life of an authority's log its revocations are known. */
export interface RevocationMark {
  readonly branch: Uint8Array;
  readonly upTo: number;
}

export interface RevocationStore {
  revocationMark(task: TaskId, authority: Uint8Array): Promise<RevocationMark | undefined>;
  /** These devices stay revoked by the authority; whoever was told before stays so as well. */
  addRevocations(task: TaskId, authority: Uint8Array, users: readonly UserId[], mark: RevocationMark): Promise<void>;
  /** How many authorities have revoked it. */
  revokedBy(task: TaskId, user: UserId): Promise<number>;
}

/** The note that says which examples a task is evaluated on. */
export function examplesNote(task: TaskId): string {
  return `evaluation-${toHex(task)}`;
}

/** Whether a task was removed; where it was not, how many of its buffers are open. */
interface RemovedTask {
  readonly isRemoved: boolean;
  readonly openBuffers: number;
}

export interface TaskStore {
  /** The same again changes nothing; another one under its name is refused. */
  addTask(task: StoredTask): Promise<void>;
  task(task: TaskId): Promise<StoredTask | undefined>;
  tasks(): Promise<readonly StoredTask[]>;
  /** All tasks, without their specifications, which may be long. */
  taskStates(): Promise<readonly Pick<StoredTask, 'task' | 'state' | 'why'>[]>;
  setTaskState(task: TaskId, state: TaskState, why?: string): Promise<void>;
  /** Removes a finished task whose buffers have all ended, with everything that is stored of it; otherwise nothing. */
  removeTask(task: TaskId): Promise<RemovedTask>;
}

export interface BufferStore {
  /** `nonce`: what it was drawn with, which is used up by this. */
  addBuffer(buffer: StoredBuffer, nonce?: Uint8Array): Promise<void>;
  buffer(ctx: Ctx): Promise<StoredBuffer | undefined>;
  /** Buffers that are filling, frozen or granted, oldest first, with the number of their last fact. */
  livingBuffers(): Promise<readonly (StoredBuffer & { readonly number: number })[]>;
  /**
   * Locks the buffer, hands the facts after number `known` and the time to `step`, and writes what it returns. `step` may be
   * called again where the database asks for it: it must only compute. Throws `TooManySlots` for a deposit of a device that
   * has to finish others first.
   */
  advance<Result>(
    ctx: Ctx,
    known: number,
    step: (
      newFacts: readonly BufferFact[],
      now: number,
    ) => { readonly change: BufferChange | undefined; readonly result: Result },
    fence?: Fence,
  ): Promise<{ readonly result: Result; readonly number: number }>;
  /** The facts after number `known`, as they are now. */
  facts(ctx: Ctx, known: number): Promise<readonly BufferFact[]>;
  inbox(ctx: Ctx, slot: Slot): Promise<readonly Uint8Array[]>;
  deposits(ctx: Ctx): Promise<readonly Uint8Array[]>;
  burntSince(user: UserId, since: number): Promise<number>;
  /** Removes the facts of buffers that have ended, the oldest first, `most` at a time. Returns how many there were. */
  forgetBuffers(
    task: TaskId,
    which: { readonly drawnBefore: number; readonly most: number },
    fence?: Fence,
  ): Promise<number>;
  /** Burnt slots from before this time count no more. */
  forgetBurnt(before: number): Promise<void>;
}

/** What an attempt to append a piece found. */
interface PieceClaim {
  /** How much of the body is durable. */
  readonly received: number;
  /** Where it lies; missing where nothing does. */
  readonly staged?: string;
  /** Nobody else writes there: it may be appended to. Else it is copied. */
  readonly isOurs: boolean;
  /** Another body of the slot, which is not wanted any more. */
  readonly obsolete?: { readonly bodyHash: Uint8Array; readonly staged: string };
}

export interface PieceStore {
  /** What is durable of an upload that comes in several pieces, and of which body it is. */
  piece(ctx: Ctx, slot: Slot): Promise<UploadPiece | undefined>;
  setPiece(ctx: Ctx, slot: Slot, piece: UploadPiece): Promise<void>;
  /** From now on this attempt is the one whose end counts, whatever node an older one is still under way at. */
  claimPiece(ctx: Ctx, slot: Slot, bodyHash: Uint8Array, attempt: string): Promise<PieceClaim>;
  /** Records at the end of an attempt how much is durable, and where. Returns false where a newer attempt was made meanwhile. */
  settlePiece(ctx: Ctx, slot: Slot, attempt: string, stands: { received: number; staged: string }): Promise<boolean>;
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
  keptModels(task: TaskId, which: { readonly before: number; readonly most: number }): Promise<readonly StoredModel[]>;
  /** From now on the parameters of these versions are not kept; what is known of them stays. */
  forgetModels(task: TaskId, versions: readonly number[], fence?: Fence): Promise<void>;
  /** The names of all blobs that versions are made of. */
  modelBlobs(task: TaskId): Promise<readonly string[]>;
  setEvaluation(task: TaskId, version: number, result: { accuracy: number; loss: number }): Promise<void>;
}

export type SharedSeat =
  | {
      readonly kind: 'seated';
      readonly ctx: Ctx;
      /** Of the buffer, this one included. */
      readonly seats: number;
      readonly deposits: number;
    }
  /** Every seat is taken: whoever has a buffer drawn does it with this nonce. */
  | { readonly kind: 'needs-buffer'; readonly nonce: Uint8Array }
  /** A suspect waits for a buffer that it may sit down in. */
  | { readonly kind: 'must-wait' }
  | { readonly kind: 'not-running' };

export type SharedPlace =
  | { readonly kind: 'given'; readonly leftMs: number; readonly underWay: number }
  | { readonly kind: 'none' };

/** What nodes on one database tell each other by it. */
export interface NodeStore {
  /** Takes the lease for `forMs` from now on. Returns its fence; undefined where another holder has it. */
  takeLease(name: string, holder: string, forMs: number): Promise<number | undefined>;
  /** Makes the lease last for `forMs` from now on, unless another holder has it. */
  renewLease(fence: Fence, forMs: number): Promise<void>;
  giveLeaseBack(name: string, holder: string): Promise<void>;
  /** A seat for as long: the one the device has, else in the oldest buffer with a free one; `only` in this buffer. */
  takeSeat(
    task: TaskId,
    user: UserId,
    wish: {
      readonly forMs: number;
      readonly freshNonce: Uint8Array;
      readonly only?: Ctx;
      /** So long before its expiry a buffer has waited long. */
      readonly lateMs: number;
    },
  ): Promise<SharedSeat>;
  /** Forgets a nonce whose buffer cannot be used. */
  forgetDraw(task: TaskId, nonce: Uint8Array): Promise<void>;
  /** Seats that lapsed unused. */
  forgetSeats(): Promise<void>;
  /** Gives a place for `forMs`: the one the device has, else a new one if `isFree` agrees to how many there are. */
  takePlace(
    task: TaskId,
    user: UserId,
    forMs: number,
    isFree: (underWay: number) => boolean,
  ): Promise<SharedPlace & { readonly lapsed: number }>;
  hasPlace(task: TaskId, user: UserId): Promise<boolean>;
  /** Returns whether there was one. */
  endPlace(task: TaskId, user: UserId): Promise<boolean>;
  countPlaces(task: TaskId): Promise<number>;
  /**
   * Notes that a node is alive now. Where none was for `leastGapMs` or longer, every lease is longer by that gap, in the same
   * transaction. Returns the gap that was made up for.
   */
  noteAlive(leastGapMs: number): Promise<number>;
}

export interface Store
  extends TaskStore,
    BufferStore,
    SlotStore,
    RevocationStore,
    SuspicionStore,
    PieceStore,
    ModelStore,
    NodeStore {
  /** On the clock that leases are judged by. */
  now(): Promise<number>;
  note(name: string): Promise<Uint8Array | undefined>;
  setNote(name: string, value: Uint8Array): Promise<void>;
  /** Sets the note to what `change` makes of it; undefined leaves it. */
  changeNote(name: string, change: (before: Uint8Array | undefined) => Uint8Array | undefined): Promise<void>;
  close(): Promise<void>;
}

/** Whether a buffer has come to its end, one way or another. */
export function isEnded(status: SecureBuffer['status']): boolean {
  return status !== 'filling' && status !== 'frozen' && status !== 'granted';
}
