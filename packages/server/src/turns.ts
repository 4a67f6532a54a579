/** Which node ends the buffers of a task: one at a time, for as long as its turn lasts on the database's clock. */
import { toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import type { Fence, Store } from './store/store.ts';

/** `alone`: there are no other nodes. */
export type Turn = Fence | 'alone';

export interface Turns {
  /** The turn of a task, for work that begins now; undefined where another node has it. */
  take(task: TaskId): Promise<Turn | undefined>;
  /** Keeps the turn until the work has ended, however long that takes. */
  during<Result>(turn: Turn, work: () => Promise<Result>): Promise<Result>;
  /** Others need not wait until they end. */
  giveBack(): Promise<void>;
}

export const ALONE: Turns = {
  take: async () => 'alone',
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
  readonly #held = new Set<string>();

  constructor(options: SharedTurnsOptions) {
    this.#options = options;
  }

  async take(task: TaskId): Promise<Turn | undefined> {
    const { store, turnMs } = this.#options;
    const name = nameOf(task);
    const number = await store.takeTurn(name, this.#holder, turnMs);
    if (number === undefined) {
      this.#held.delete(name);
      return undefined;
    }
    this.#held.add(name);
    return { name, number };
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
    } finally {
      clearInterval(renewing);
    }
  }

  async giveBack(): Promise<void> {
    for (const name of this.#held) await this.#options.store.giveTurnBack(name, this.#holder);
    this.#held.clear();
  }
}

function nameOf(task: TaskId): string {
  return `close-${toHex(task)}`;
}
