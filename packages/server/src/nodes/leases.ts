/** Decides which node ends the buffers of a task: one at a time, for as long as its lease lasts on the database's clock. */
import { toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { type Fence, LeaseLost } from '../store/leases.ts';
import type { Store } from '../store/store.ts';

export interface LeasesOptions {
  readonly store: Store;
  readonly leaseMs: number;
  /** The name of this node. */
  readonly holder: string;
  onTrouble(what: string, error: unknown): void;
}

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
