/**
 * What a server that is alone does otherwise than one of several nodes on a database. One of the two ports, `alone` and
 * `shared`, is chosen at the start; nothing else asks which it is.
 */
import type { Ctx, SecureBuffer, TaskId } from '@basa/protocol';
import type { SeatGiver } from '../seats/seats.ts';
import type { TaskSeatsOptions } from '../seats/task-seats.ts';
import type { UnderWay } from '../seats/under-way.ts';
import type { UpToDate } from '../store/copies.ts';
import type { Pieces } from '../uploads/pieces.ts';
import type { Leases } from './leases.ts';

export interface Nodes {
  /** Who ends the buffers of a task. */
  readonly leases: Leases;
  readonly upToDate: UpToDate;
  /** Where the next piece of an upload is appended. */
  readonly pieces: Pieces;
  /** Tells other nodes what this one did. */
  readonly tell: Telling;
  seats(options: TaskSeatsOptions): SeatGiver;
  /** The devices of a task that have a place and no slot yet. */
  underWay(task: TaskId): UnderWay;
  /** Notes that this node starts now. Makes leases longer by the time that no node was there. */
  noteStart(): Promise<void>;
  /** Notes that this node is still there. */
  noteAlive(): Promise<void>;
  /** Hears what other nodes tell, until it is closed. */
  listen(listener: Listener): void;
  /** Takes in at every tick what other nodes have done, told or not. */
  catchUp(refresh: () => Promise<void>): Promise<void>;
  /** Stops listening, and gives all leases back. */
  close(): Promise<void>;
}

export interface Telling {
  /** A task, or its newest model, has changed. */
  task(task: TaskId): void;
  buffer(buffer: SecureBuffer): void;
  /** An upload was accepted. */
  upload(task: TaskId, ctx: Ctx): void;
}

/** What a node does when another one tells it something. */
export interface Listener {
  onTask(): Promise<void>;
  onBuffer(ctx: Ctx): Promise<void>;
  onUpload(task: string, ctx: Ctx): Promise<void>;
}
