/** What the tasks of a server share. */
import type { BasaEvent, ServerPorts } from '@basa/protocol';
import type { WorkerPool } from '@basa/runtime/node';
import type { AuthorityLink } from './authority-link.ts';
import type { BlobStore } from './blobs/blob-store.ts';
import type { BufferKeeper } from './buffer-keeper.ts';
import type { Store } from './store/store.ts';
import type { WorkResult, WorkTask } from './work/tasks.ts';

export interface TaskTools {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly keeper: BufferKeeper;
  readonly authority: AuthorityLink;
  readonly ports: ServerPorts;
  readonly pool: WorkerPool<WorkTask, WorkResult>;
  readonly clock: () => number;
  readonly seatMs: number;
  onEvent(event: BasaEvent): void;
  /** Something failed that is tried again later. */
  onTrouble(what: string, error: unknown): void;
}
