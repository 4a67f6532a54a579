/** Writes behind its caller's back: what comes while a write is under way goes with the next one, all at once and uncopied. */
import type { Staging } from './blob-store.ts';

/** Enough for the disk to be busy, and little for a server with many uploads under way: twice this for each. */
const MOST_WAITING_BYTES = 512 * 1024;

export class WriteBehind {
  readonly #staging: Staging;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(staging: Staging) {
    this.#staging = staging;
  }

  /** Resolves when more may come. */
  async add(piece: Uint8Array): Promise<void> {
    this.#waiting.push(piece);
    this.#waitingBytes += piece.length;
    if (this.#writing === undefined) this.#write();
    else if (this.#waitingBytes >= MOST_WAITING_BYTES) await this.#writing;
    this.#check();
  }

  /** Resolves when everything is written, or throws what went wrong. */
  async end(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    this.#check();
  }

  #write(): void {
    const pieces = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#writing = this.#staging.append(...pieces).then(
      () => this.#next(),
      (error: unknown) => {
        this.#failure ??= { error };
        this.#writing = undefined;
      },
    );
  }

  #next(): void {
    this.#writing = undefined;
    if (this.#waiting.length > 0) this.#write();
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
