/** Which node ends the buffers of a task: one at a time, for as long as its turn lasts on the database's clock. */
import { toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import type { Fence, Store } from '../store/store.ts';
import { TurnLost } from '../store/store.ts';

/** `alone`: there are no other nodes. */
export type Turn = Fence | 'alone';

export interface Turns {
  /** The turn of a task, for work that begins now; undefined where another node has it, or had it a moment ago. */
  take(task: TaskId): Promise<Turn | undefined>;
  /** Whether this node had it when it last asked. */
  has(task: TaskId): boolean;
  /** Keeps the turn until the work has ended, however long that takes. */
  during<Result>(turn: Turn, work: () => Promise<Result>): Promise<Result>;
  /** Others need not wait until they end. */
  giveBack(): Promise<void>;
}

export const ALONE: Turns = {
  take: async () => 'alone',
  has: () => true,
  during: (_, work) => work(),
  giveBack: async () => {},
};

export interface SharedTurnsOptions {
  readonly store: Store;
  readonly turnMs: number;
  onTrouble(what: string, error: unknown): void;
}

export class SharedTurns implements Turns {
  readonly #options: SharedTurnsOptions;
  readonly #holder = toHex(nodeRandomBytes(8));
  /** What the database said last, and when. It is not asked again and again: what is written is held to the fence. */
  readonly #known = new Map<string, { readonly turn: Fence | undefined; readonly at: number }>();

  constructor(options: SharedTurnsOptions) {
    this.#options = options;
  }

  async take(task: TaskId): Promise<Turn | undefined> {
    const { store, turnMs } = this.#options;
    const name = nameOf(task);
    const known = this.#known.get(name);
    if (known !== undefined && performance.now() - known.at < turnMs / 4) return known.turn;
    const at = performance.now();
    const number = await store.takeTurn(name, this.#holder, turnMs);
    const turn = number === undefined ? undefined : { name, number };
    this.#known.set(name, { turn, at });
    return turn;
  }

  has(task: TaskId): boolean {
    return this.#known.get(nameOf(task))?.turn !== undefined;
  }

  /** A node that was stopped for longer than its turn goes on and is refused by the fence: it renews nothing then. */
  async during<Result>(turn: Turn, work: () => Promise<Result>): Promise<Result> {
    if (turn === 'alone') return work();
    const { store, turnMs, onTrouble } = this.#options;
    const renewing = setInterval(() => {
      store.renewTurn(turn, turnMs).catch((error: unknown) => onTrouble('a turn could not be renewed', error));
    }, turnMs / 4);
    try {
      return await work();
    } catch (error) {
      if (error instanceof TurnLost) this.#known.delete(turn.name);
      throw error;
    } finally {
      clearInterval(renewing);
    }
  }

  async giveBack(): Promise<void> {
    for (const [name, { turn }] of this.#known)
      if (turn !== undefined) await this.#options.store.giveTurnBack(name, this.#holder);
    this.#known.clear();
  }
}

function nameOf(task: TaskId): string {
  return `close-${toHex(task)}`;
}
