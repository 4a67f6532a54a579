/**
 * The nodes of a server: a single node with its own database, or several that share one. The interface is the same. A node with a shared
 * database has copies in memory that may be old, gets notices about changes of other nodes, and needs leases that other nodes may hold.
 */
import { toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { openSignals, type Signals } from '@basa/service';
import type { Places } from '../admission/places.ts';
import { type Fence, LeaseLost } from '../store/sql.ts';
import type { Store } from '../store/store.ts';

export interface NodesOptions {
  readonly store: Store;
  readonly placeTable: Places;
  /** The time for which a node may be silent before another one ends its batches. */
  readonly leaseMs: number;
  /** Set if several nodes share the database. */
  readonly shared?: { readonly url: string } | undefined;
  onTrouble(what: string, error: unknown): void;
}

/** What has changed: a task or its newest model, one of its batches, or its uploads: one was accepted. */
export type Word = 'task' | 'batch' | 'upload';

/** Takes note of a change at another node, in the task of this name. */
export type Hear = (word: Word, task: string) => Promise<void>;

/** The same after a restart: no other process has the folder. */
const ALONE = 'alone';
const CHANNEL = 'basa_server';

export class Nodes {
  readonly #options: NodesOptions;
  /** Decides which node ends the batches of a task. */
  readonly leases: Leases;
  #signals: Signals | undefined;

  constructor(options: NodesOptions) {
    this.#options = options;
    this.leases = new Leases(options, options.shared === undefined ? ALONE : toHex(nodeRandomBytes(8)));
  }

  /** Returns the copy in memory if no other node can have changed its source, otherwise the result of `read`. */
  async upToDate<Copy>(copy: Copy, read: () => Promise<Copy>): Promise<Copy> {
    return this.#options.shared === undefined ? copy : read();
  }

  /** Tells the other nodes, so that none has to wait for its next look. */
  tell(word: Word, task: TaskId): void {
    this.#signals?.tell(`${word} ${toHex(task)}`);
  }

  /** This node starts now. */
  async noteStart(): Promise<void> {
    const { shared, placeTable } = this.#options;
    // Devices ask again, because it is unknown how many of them are still under way.
    if (shared === undefined) await placeTable.forgetAll();
  }

  /** Hears the words of other nodes, until it is closed. */
  listen(hear: Hear): void {
    const { shared, onTrouble } = this.#options;
    if (shared === undefined) return;
    const heard = (word: Word, task: string): void =>
      void hear(word, task).catch((error: unknown) => onTrouble('a message of another node', error));
    this.#signals = openSignals({
      url: shared.url,
      channel: CHANNEL,
      onWord(text) {
        const [word, task = ''] = text.split(' ');
        heard(word as Word, task);
      },
      onGap: () => heard('task', ''),
      onTrouble: (error) =>
        onTrouble('messages of other nodes cannot be received; polling the database instead', error),
    });
  }

  /** At every tick, reads the changes of other nodes, signalled or not. */
  async catchUp(refresh: () => Promise<void>): Promise<void> {
    if (this.#options.shared !== undefined) await refresh();
  }

  /** Stops listening, and gives all leases back. */
  async close(): Promise<void> {
    await this.#signals?.close();
    await this.leases.giveBack();
  }
}

/** Decides which node ends the batches of a task: one at a time, for as long as its lease lasts on the database's clock. */
export class Leases {
  readonly #options: Pick<NodesOptions, 'store' | 'leaseMs' | 'onTrouble'>;
  /** The name of this node. */
  readonly #holder: string;
  /**
   * The last answer of the database, and its time. The database is not asked again and again, because the fence checks
   * every write.
   */
  readonly #known = new Map<string, { readonly fence: Fence | undefined; readonly at: number }>();

  constructor(options: Pick<NodesOptions, 'store' | 'leaseMs' | 'onTrouble'>, holder: string) {
    this.#options = options;
    this.#holder = holder;
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
      if (fence !== undefined) await this.#options.store.giveLeaseBack(name, this.#holder);
    this.#known.clear();
  }

  /** Returns the fence of the lease, for work that begins now; undefined if another node has it, or had it a moment ago. */
  async #take(task: TaskId): Promise<Fence | undefined> {
    const { store, leaseMs } = this.#options;
    const name = nameOf(task);
    const known = this.#known.get(name);
    if (known !== undefined && performance.now() - known.at < leaseMs / 4) return known.fence;
    const at = performance.now();
    const number = await store.takeLease(name, this.#holder, leaseMs);
    const fence = number === undefined ? undefined : { name, number };
    this.#known.set(name, { fence, at });
    return fence;
  }
}

function nameOf(task: TaskId): string {
  return `close-${toHex(task)}`;
}
