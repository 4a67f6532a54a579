/** Writes in the background: one block fills while the one before is written. */
import type { Staging } from './blob-store.ts';
import { fillBlock, giveBlock, takeBlock } from './blocks.ts';

export class WriteBehind {
  readonly #staging: Pick<Staging, 'append'>;
  #filling = takeBlock();
  #filled = 0;
  /** The block that is being written, or was last. */
  #other: Buffer | undefined;
  /** Undefined if nothing is being written. */
  #writing: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(staging: Pick<Staging, 'append'>) {
    this.#staging = staging;
  }

  /** Returns undefined if more may be added immediately. The piece may be reused after that. */
  add(piece: Uint8Array): Promise<void> | undefined {
    for (let rest = piece; ; ) {
      const taken = fillBlock(this.#filling, this.#filled, rest);
      this.#filled += taken;
      if (this.#filled < this.#filling.length) return undefined;
      rest = rest.subarray(taken);
      if (this.#writing !== undefined) return this.#writing.then(() => this.add(rest));
      this.#write();
    }
  }

  /** Resolves when everything is written, or throws the error. Call it once. */
  async end(): Promise<void> {
    await this.#writing;
    try {
      if (this.#filled > 0) this.#write();
      await this.#writing;
      this.#check();
    } finally {
      giveBlock(this.#filling);
      if (this.#other !== undefined) giveBlock(this.#other);
    }
  }

  /** Begins to write the filled part. */
  #write(): void {
    this.#check();
    const block = this.#filling;
    const written = this.#staging.append(block.subarray(0, this.#filled));
    const failed = (error: unknown): void => {
      this.#failure = { error };
    };
    this.#writing = written.catch(failed).then(() => {
      this.#writing = undefined;
    });
    this.#filling = this.#other ?? takeBlock();
    this.#other = block;
    this.#filled = 0;
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
