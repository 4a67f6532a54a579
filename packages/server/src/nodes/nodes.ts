/**
 * The nodes of a server: a single node with its own database, or several that share one. The interface is the same. A node with a shared
 * database has copies in memory that may be old, gets notices about changes of other nodes, and needs leases that other nodes may hold.
 */
import { toHex } from '@basa/masking';
import { nodeRandomBytes } from '@basa/runtime/node';
import type { Places } from '../admission/places.ts';
import type { UpToDate } from '../buffers/batch-keeper.ts';
import type { Store } from '../store/store.ts';
import { Leases } from './leases.ts';
import { type Listener, type NodeSignals, openNodeSignals, type Telling } from './signals.ts';

export interface Nodes {
  /** Decides which node ends the buffers of a task. */
  readonly leases: Leases;
  readonly upToDate: UpToDate;
  /** Tells other nodes about the actions of this one. */
  readonly tell: Telling;
  /** This node starts now. */
  noteStart(): Promise<void>;
  /** Receives the signals of other nodes, until it is closed. */
  listen(listener: Listener): void;
  /** At every tick, reads the changes of other nodes, signalled or not. */
  catchUp(refresh: () => Promise<void>): Promise<void>;
  /** Stops listening, and gives all leases back. */
  close(): Promise<void>;
}

export interface NodesOptions {
  readonly store: Store;
  readonly placeTable: Places;
  /** The time for which a node may be silent before another one ends its buffers. */
  readonly leaseMs: number;
  /** Set if several nodes share the database. */
  readonly shared?: { readonly url: string } | undefined;
  onTrouble(what: string, error: unknown): void;
}

/** The same after a restart: no other process has the folder. */
const ALONE = 'alone';

export function openNodes({ store, placeTable, leaseMs, shared, onTrouble }: NodesOptions): Nodes {
  const holder = shared === undefined ? ALONE : toHex(nodeRandomBytes(8));
  const leases = new Leases({ store, leaseMs, holder, onTrouble });
  let signals: NodeSignals | undefined;
  return {
    leases,
    upToDate: (copy, read) => (shared === undefined ? Promise.resolve(copy) : read()),
    tell: {
      task: (task) => signals?.task(task),
      buffer: (buffer) => signals?.buffer(buffer),
      upload: (task, ctx) => signals?.upload(task, ctx),
    },
    async noteStart() {
      // Devices ask again, because it is unknown how many of them are still under way.
      if (shared === undefined) await placeTable.forgetAll();
    },
    listen(listener) {
      if (shared !== undefined) signals = openNodeSignals({ url: shared.url, listener, onTrouble });
    },
    async catchUp(refresh) {
      if (shared !== undefined) await refresh();
    },
    async close() {
      await signals?.close();
      await leases.giveBack();
    },
  };
}
