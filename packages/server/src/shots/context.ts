/** What the parts of a server work with: the tools that all tasks share, and what belongs to one task. */
import type { TaskId } from '@basa/protocol';
import type { ServerRole } from '@basa/protocol/one-shot';
import type { OneShotPolicy, TaskPolicy } from '@basa/protocol/policy';
import type { WorkerPool } from '@basa/runtime/node';
import type { Places } from '../admission/places.ts';
import type { AuthorityLink } from '../authority/authority-link.ts';
import type { Member } from '../authority/gather.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { ModelKeeper } from '../closing/model-keeper.ts';
import type { WorkResult, WorkTask } from '../closing/work/sum-shard.ts';
import type { Nodes } from '../nodes/nodes.ts';
import type { ReadTask } from '../specification/task-specification.ts';
import type { Store } from '../store/store.ts';
import type { OnEvent, ServerWatch } from '../watch/server-watch.ts';
import type { Batches } from './batches.ts';

export interface ServerTools {
  readonly store: Store;
  readonly placeTable: Places;
  readonly blobs: BlobStore;
  readonly batches: Batches;
  readonly links: readonly AuthorityLink[];
  readonly ports: ServerRole.ServerPorts;
  readonly pool: WorkerPool<WorkTask, WorkResult>;
  /** The clock of this node; leases are judged by the store's. */
  readonly clock: () => number;
  /** The bytes of models and updates that each task may store; unlimited if undefined. */
  readonly taskBytes: number | undefined;
  readonly nodes: Nodes;
  readonly watch: ServerWatch;
  readonly onEvent: OnEvent;
  /** Called if something failed that is tried again later. */
  onTrouble(what: string, error: unknown): void;
}

export interface TaskContext extends ServerTools {
  readonly task: TaskId;
  readonly read: ReadTask;
  readonly policy: TaskPolicy;
  readonly models: ModelKeeper;
  /** Called when versions or windows have changed. */
  onIncluded(): Promise<void>;
}

/** The devices under way, as admission knows them, or as the end of a window decides. */
export interface Coming {
  /** The time for which no device has been on its way with an update on the version. Infinite if no device will come. */
  quietMs(version: number): number;
  /** The number of devices that may still come with one; undefined if there is no limit. */
  coming(version: number): number | undefined;
}

/** A task in one-shot mode. */
export interface OneShotContext extends TaskContext {
  readonly policy: TaskPolicy & { readonly oneShot: OneShotPolicy };
  /** Those whose addresses this server has. */
  readonly authorities: readonly Member[];
  readonly coming: Coming;
  /** After this time without an upload nothing waits for others. */
  readonly stallMs: number;
}
