/** The tools that the tasks of a server share. */
import type { Signer } from '@basa/masking';
import type { BasaEvent, ServerPorts, TaskPolicy } from '@basa/protocol';
import type { WorkerPool } from '@basa/runtime/node';
import type { Tickets } from '../admission/tickets.ts';
import type { AuthorityLinks } from '../authority/authority-links.ts';
import type { Revocations } from '../authority/revocations.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { BatchKeeper } from '../buffers/batch-keeper.ts';
import type { BufferKeeper } from '../buffers/buffer-keeper.ts';
import type { WorkResult, WorkTask } from '../closing/work/tasks.ts';
import type { Nodes } from '../nodes/nodes.ts';
import type { Store } from '../store/store.ts';
import type { ServerWatch } from '../watch/server-watch.ts';

export interface TaskTools {
  readonly store: Store;
  readonly tickets: Tickets;
  readonly blobs: BlobStore;
  readonly keeper: BufferKeeper;
  readonly batches: BatchKeeper;
  readonly authorities: AuthorityLinks;
  /** In a task with the key that its policy names. */
  readonly ports: ServerPorts;
  /** The key that replaces the server's, if there is one. */
  readonly nextSigner: Signer | undefined;
  /** With the key that the policy names in its current term; with the first one if this server has no such key. */
  portsOf(policy: Pick<TaskPolicy, 'serverKey'>): ServerPorts;
  readonly revocations: Revocations;
  readonly pool: WorkerPool<WorkTask, WorkResult>;
  /** The clock of this node; leases are judged by the store's. */
  readonly clock: () => number;
  readonly seatMs: number;
  /** The bytes of models and updates that each task may store; unlimited if undefined. */
  readonly taskBytes: number | undefined;
  readonly nodes: Nodes;
  readonly watch: ServerWatch;
  onEvent(event: BasaEvent): void;
  /** Called if something failed that is tried again later. */
  onTrouble(what: string, error: unknown): void;
}
