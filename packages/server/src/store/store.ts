/** What a server keeps, as a port: every method is one transaction, durable when its promise is fulfilled. */
import type { BufferStore } from './buffer-store.ts';
import type { ModelStore } from './model-store.ts';
import type { NodeStore } from './node-store.ts';
import type { PieceStore } from './piece-store.ts';
import type { RevocationStore } from './revocation-store.ts';
import type { SlotStore } from './slot-store.ts';
import type { SuspicionStore } from './suspicion-store.ts';
import type { TaskStore } from './task-store.ts';

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
