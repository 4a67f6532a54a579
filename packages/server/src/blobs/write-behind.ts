/** Writes behind its caller's back: one block fills while the one before is written. */
import type { Staging } from './blob-store.ts';
import { giveBlock, takeBlock } from './blocks.ts';

export class WriteBehind {
  readonly #staging: Staging;
  #filling = takeBlock();
  #filled = 0;
  /** The block that is being written, or was. */
  #other: Uint8Array | undefined;
  #writing: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  constructor(staging: Staging) {
    this.#staging = staging;
  }

  /** Resolves when more may come; the piece is free for reuse. */
  async add(piece: Uint8Array): Promise<void> {
    for (let at = 0; at < piece.length; ) {
      const taken = piece.subarray(at, at + this.#filling.length - this.#filled);
      this.#filling.set(taken, this.#filled);
      this.#filled += taken.length;
      at += taken.length;
      if (this.#filled === this.#filling.length) await this.#swap();
    }
  }

  /** Resolves when everything is written, or throws what went wrong. Once. */
  async end(): Promise<void> {
    try {
      if (this.#filled > 0) await this.#swap();
      await this.#writing;
      this.#check();
    } finally {
      await this.#writing;
      giveBlock(this.#filling);
      if (this.#other !== undefined) giveBlock(this.#other);
    }
  }

  /** Begins to write what is filled, as soon as the other block is free to be filled. */
  async #swap(): Promise<void> {
    await this.#writing;
    this.#check();
    const full = this.#filling;
    this.#writing = this.#staging.append(full.subarray(0, this.#filled)).catch((error: unknown) => {
      this.#failure = { error };
    });
    this.#filling = this.#other ?? takeBlock();
    this.#other = full;
    this.#filled = 0;
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
