/** One of several nodes on a database: what it has in memory are copies, and what only one node may do needs a lease. */
import type { BlobStore } from '../blobs/blob-store.ts';
import { sharedSeats } from '../seats/task-seats.ts';
import { placesInDatabase } from '../seats/under-way.ts';
import type { Store } from '../store/store.ts';
import { sharedPieces } from '../uploads/pieces.ts';
import { SharedLeases } from './leases.ts';
import type { Nodes } from './nodes.ts';
import { type NodeSignals, openNodeSignals } from './signals.ts';

export interface SharedOptions {
  readonly store: Store;
  readonly blobs: BlobStore;
  /** Of the database. */
  readonly url: string;
  /** How long a node may be silent before another one ends its buffers. */
  readonly leaseMs: number;
  readonly tickMs: number;
  onTrouble(what: string, error: unknown): void;
}

export function shared({ store, blobs, url, leaseMs, tickMs, onTrouble }: SharedOptions): Nodes {
  const leases = new SharedLeases({ store, leaseMs, onTrouble });
  let signals: NodeSignals | undefined;
  // If no node noted anything for this time, none was there.
  const noteAlive = async (): Promise<void> => void (await store.noteAlive(2 * tickMs + leaseMs));
  return {
    leases,
    upToDate: (_, read) => read(),
    pieces: sharedPieces({ store, blobs }),
    tell: {
      task: (task) => signals?.task(task),
      buffer: (buffer) => signals?.buffer(buffer),
      upload: (task, ctx) => signals?.upload(task, ctx),
    },
    seats: sharedSeats,
    underWay: (task) => placesInDatabase(store, task),
    noteStart: noteAlive,
    noteAlive,
    listen(listener) {
      signals = openNodeSignals({ url, listener, onTrouble });
    },
    async catchUp(refresh) {
      await store.forgetSeats();
      await refresh();
    },
    async close() {
      await signals?.close();
      await leases.giveBack();
    },
  };
}
