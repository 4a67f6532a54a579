/**
 * The nodes of a server: a single node with its own database, or several that share one. The interface is the same. A node with a shared
 * database has copies in memory that may be old, gets notices about changes of other nodes, and needs leases that other nodes may hold.
 */
import { fromHex, toHex } from '@basa/masking';
import type { Ctx, SumState, TaskId } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { openSignals, type Signals } from '@basa/service';
import type { Places } from '../admission/places.ts';
import { type Fence, LeaseLost } from '../store/sql.ts';
import type { Store } from '../store/store.ts';

/** Returns the copy in memory if no other node can have changed its source, otherwise the result of `read`. */
export type UpToDate = <Copy>(copy: Copy, read: () => Promise<Copy>) => Promise<Copy>;

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

interface Telling {
  /** A task, or its newest model, has changed. */
  task(task: TaskId): void;
  buffer(sum: Pick<SumState, 'ctx' | 'task'>): void;
  /** An upload was accepted. */
  upload(task: TaskId, ctx: Ctx): void;
}

/** The actions of a node on signals of another one. */
export interface Listener {
  onTask(): Promise<void>;
  onBuffer(ctx: Ctx): Promise<void>;
  onUpload(task: string, ctx: Ctx): Promise<void>;
}

interface NodeSignalsOptions {
  readonly url: string;
  readonly listener: Listener;
  onTrouble(what: string, error: unknown): void;
}

interface NodeSignals extends Telling {
  close(): Promise<void>;
}

const CHANNEL = 'basa_server';

/** Signals between the nodes of one database, so that no node has to wait for its next look. */
function openNodeSignals({ url, listener, onTrouble }: NodeSignalsOptions): NodeSignals {
  const hear = async (word: string): Promise<void> => {
    const [kind, task = '', buffer] = word.split(' ');
    if (kind === 'task') return listener.onTask();
    const ctx = fromHex(buffer ?? '') as Ctx | undefined;
    if (ctx === undefined) return;
    await (kind === 'upload' ? listener.onUpload(task, ctx) : listener.onBuffer(ctx));
  };
  const refresh = (): void => {
    listener.onTask().catch((error: unknown) => onTrouble('the changes of other nodes could not be read', error));
  };
  const signals: Signals = openSignals({
    url,
    channel: CHANNEL,
    onWord: (word) => void hear(word).catch((error: unknown) => onTrouble('a message of another node', error)),
    onGap: refresh,
    onTrouble: (error) => onTrouble('messages of other nodes cannot be received; polling the database instead', error),
  });
  return {
    task: (task) => signals.tell(`task ${toHex(task)}`),
    buffer: ({ ctx, task }) => signals.tell(`buffer ${toHex(task)} ${toHex(ctx)}`),
    upload: (task, ctx) => signals.tell(`upload ${toHex(task)} ${toHex(ctx)}`),
    close: () => signals.close(),
  };
}

export interface LeasesOptions {
  readonly store: Store;
  readonly leaseMs: number;
  /** The name of this node. */
  readonly holder: string;
  onTrouble(what: string, error: unknown): void;
}

/** Decides which node ends the buffers of a task: one at a time, for as long as its lease lasts on the database's clock. */
export class Leases {
  readonly #options: LeasesOptions;
  /**
   * The last answer of the database, and its time. The database is not asked again and again, because the fence checks
   * every write.
   */
  readonly #known = new Map<string, { readonly fence: Fence | undefined; readonly at: number }>();

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  /**
   * Does the work under the lease of the task, which is kept until the work has ended. Does nothing if another node has
   * the lease. A node that was stopped for longer than its lease continues and is refused by the fence: it then renews
   * nothing.
   */
  async under(task: TaskId, work: (fence: Fence) => Promise<void>): Promise<void> {
    const { store, leaseMs, onTrouble } = this.#options;
    const fence = await this.#take(task);
    if (fence === undefined) return;
    const renewing = setInterval(() => {
      store.renewLease(fence, leaseMs).catch((error: unknown) => onTrouble('a lease could not be renewed', error));
    }, leaseMs / 4);
    try {
      await work(fence);
    } catch (error) {
      if (error instanceof LeaseLost) this.#known.delete(fence.name);
      throw error;
    } finally {
      clearInterval(renewing);
    }
  }

  /** True if this node had the lease when it last asked. */
  has(task: TaskId): boolean {
    return this.#known.get(nameOf(task))?.fence !== undefined;
  }

  /** Gives all leases back, so that other nodes need not wait until they end. */
  async giveBack(): Promise<void> {
    for (const [name, { fence }] of this.#known)
      if (fence !== undefined) await this.#options.store.giveLeaseBack(name, this.#options.holder);
    this.#known.clear();
  }

  /** Returns the fence of the lease, for work that begins now; undefined if another node has it, or had it a moment ago. */
  async #take(task: TaskId): Promise<Fence | undefined> {
    const { store, leaseMs, holder } = this.#options;
    const name = nameOf(task);
    const known = this.#known.get(name);
    if (known !== undefined && performance.now() - known.at < leaseMs / 4) return known.fence;
    const at = performance.now();
    const number = await store.takeLease(name, holder, leaseMs);
    const fence = number === undefined ? undefined : { name, number };
    this.#known.set(name, { fence, at });
    return fence;
  }
}

function nameOf(task: TaskId): string {
  return `close-${toHex(task)}`;
}
