/** The tools that the tasks of a server share. */
import type { BasaEvent, ServerPorts } from '@basa/protocol';
import type { WorkerPool } from '@basa/runtime/node';
import type { Places } from '../admission/places.ts';
import type { AuthorityLinks, Revocations } from '../authority/authorities.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { WorkResult, WorkTask } from '../closing/work/sum-shard.ts';
import type { Nodes } from '../nodes/nodes.ts';
import type { BatchKeeper } from '../shots/batches.ts';
import type { Store } from '../store/store.ts';
import type { ServerWatch } from '../watch/server-watch.ts';

export interface TaskTools {
  readonly store: Store;
  readonly placeTable: Places;
  readonly blobs: BlobStore;
  readonly batches: BatchKeeper;
  readonly authorities: AuthorityLinks;
  readonly ports: ServerPorts;
  readonly revocations: Revocations;
  readonly pool: WorkerPool<WorkTask, WorkResult>;
  /** The clock of this node; leases are judged by the store's. */
  readonly clock: () => number;
  /** The bytes of models and updates that each task may store; unlimited if undefined. */
  readonly taskBytes: number | undefined;
  readonly nodes: Nodes;
  readonly watch: ServerWatch;
  onEvent(event: BasaEvent): void;
  /** Called if something failed that is tried again later. */
  onTrouble(what: string, error: unknown): void;
}
