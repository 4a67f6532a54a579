/** Which node ends the buffers of a task: one at a time, for as long as its lease lasts on the database's clock. */
import { toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { type Fence, LeaseLost } from '../store/node-store.ts';
import type { Store } from '../store/store.ts';

export interface Leases {
  /**
   * Does the work under the lease of the task, which is kept until the work has ended, however long that takes. Does
   * nothing where another node has the lease. There is no fence where a server is alone.
   */
  under(task: TaskId, work: (fence: Fence | undefined) => Promise<void>): Promise<void>;
  /** Whether this node had the lease when it last asked. */
  has(task: TaskId): boolean;
  /** Gives all leases back, so that other nodes need not wait until they end. */
  giveBack(): Promise<void>;
}

export const NO_LEASES: Leases = {
  under: (_, work) => work(undefined),
  has: () => true,
  giveBack: async () => {},
};

export interface SharedLeasesOptions {
  readonly store: Store;
  readonly leaseMs: number;
  onTrouble(what: string, error: unknown): void;
}

export class SharedLeases implements Leases {
  readonly #options: SharedLeasesOptions;
  readonly #holder = toHex(nodeRandomBytes(8));
  /** What the database said last, and when. It is not asked again and again: what is written is held to the fence. */
  readonly #known = new Map<string, { readonly fence: Fence | undefined; readonly at: number }>();

  constructor(options: SharedLeasesOptions) {
    this.#options = options;
  }

  /** A node that was stopped for longer than its lease goes on and is refused by the fence: it renews nothing then. */
  async under(task: TaskId, work: (fence: Fence | undefined) => Promise<void>): Promise<void> {
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

  has(task: TaskId): boolean {
    return this.#known.get(nameOf(task))?.fence !== undefined;
  }

  async giveBack(): Promise<void> {
    for (const [name, { fence }] of this.#known)
      if (fence !== undefined) await this.#options.store.giveLeaseBack(name, this.#holder);
    this.#known.clear();
  }

  /** The fence of the lease, for work that begins now; undefined where another node has it, or had it a moment ago. */
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
