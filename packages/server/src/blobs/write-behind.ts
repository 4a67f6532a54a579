/** Writes in the background: one block fills while the one before is written and hashed. */
import type { Staging } from './blob-store.ts';
import { fillBlock, giveBlock, takeBlock } from './blocks.ts';

export class WriteBehind {
  readonly #staging: Pick<Staging, 'append'>;
  readonly #also: (block: Uint8Array) => Promise<void>;
  #filling = takeBlock();
  #filled = 0;
  /** The block that is being written, or was last. */
  #other: Buffer | undefined;
  /** Undefined if nothing is being written. */
  #writing: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** `also`: additional work on every block while it is written. */
  constructor(staging: Pick<Staging, 'append'>, also: (block: Uint8Array) => Promise<void> = async () => undefined) {
    this.#staging = staging;
    this.#also = also;
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
    const bytes = block.subarray(0, this.#filled);
    const done = Promise.allSettled([this.#staging.append(bytes), this.#also(bytes)]);
    this.#writing = done.then((ends) => {
      const failed = ends.find((end) => end.status === 'rejected');
      if (failed !== undefined) this.#failure = { error: failed.reason };
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
