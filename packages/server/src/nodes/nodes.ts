/**
 * The nodes of a server: one that is alone with its database, or several that share one. What they keep is the same. A node that shares its
 * database has copies in memory that may be old, hears what others do, and needs leases that others may have.
 */
import { toHex } from '@basa/masking';
import { nodeRandomBytes } from '@basa/runtime/node';
import type { Tickets } from '../admission/tickets.ts';
import type { UpToDate } from '../buffers/sum-keeper.ts';
import type { Store } from '../store/store.ts';
import { Leases } from './leases.ts';
import { type Listener, type NodeSignals, openNodeSignals, type Telling } from './signals.ts';

export interface Nodes {
  /** Who ends the buffers of a task. */
  readonly leases: Leases;
  readonly upToDate: UpToDate;
  /** Tells other nodes what this one did. */
  readonly tell: Telling;
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

export interface NodesOptions {
  readonly store: Store;
  readonly tickets: Tickets;
  /** How long a node may be silent before another one ends its buffers. */
  readonly leaseMs: number;
  /** Set if several nodes share the database. */
  readonly shared?: { readonly url: string; readonly tickMs: number } | undefined;
  onTrouble(what: string, error: unknown): void;
}

/** The same after a restart: no other process has the folder. */
const ALONE = 'alone';

export function openNodes({ store, tickets, leaseMs, shared, onTrouble }: NodesOptions): Nodes {
  const holder = shared === undefined ? ALONE : toHex(nodeRandomBytes(8));
  const leases = new Leases({ store, leaseMs, holder, onTrouble });
  let signals: NodeSignals | undefined;
  // If no node noted anything for this time, none was there. A node that is alone knows when it was not there.
  const silentMs = shared === undefined ? Number.POSITIVE_INFINITY : 2 * shared.tickMs + leaseMs;
  return {
    leases,
    upToDate: (copy, read) => (shared === undefined ? Promise.resolve(copy) : read()),
    tell: {
      task: (task) => signals?.task(task),
      buffer: (buffer) => signals?.buffer(buffer),
      upload: (task, ctx) => signals?.upload(task, ctx),
    },
    async noteStart() {
      await store.noteAlive(shared === undefined ? 0 : silentMs);
      // Devices ask again: nobody knows how many of them are still under way.
      if (shared === undefined) await tickets.forgetAll();
    },
    async noteAlive() {
      await store.noteAlive(silentMs);
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
