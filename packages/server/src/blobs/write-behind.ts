/** Writes in the background: one block fills while the one before is written. */
import type { Staging } from './blob-store.ts';

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

export const PAGE_BYTES = 4096;
const BLOCK_BYTES = 512 * 1024;
const WASM_PAGE_BYTES = 64 * 1024;
/** Address space for many blocks. The system allocates memory only for pages that are used. */
const ARENA_BLOCKS = 32;

const arenas = new WeakSet<ArrayBufferLike>();
/** The last one returned is reused first, because its pages are still warm. */
const free: Buffer[] = [];

/** Memory that a disk can read directly and that threads share: whole pages, used again and again. */
function takeBlock(): Buffer {
  if (free.length === 0) addArena();
  return free.pop() as Buffer;
}

/** Copies bytes into the block from `at` on; returns the number that fit. */
function fillBlock(block: Buffer, at: number, bytes: Uint8Array): number {
  const count = Math.min(bytes.length, block.length - at);
  // `set` copies single bytes into shared memory, which takes five times as long.
  if (count > 0) block.fill(bytes, at, at + count);
  return count;
}

function giveBlock(block: Buffer): void {
  free.push(block);
}

/** True if these bytes are in a block and begin at a page. */
export function isAligned(bytes: Uint8Array): boolean {
  return bytes.byteOffset % PAGE_BYTES === 0 && arenas.has(bytes.buffer);
}

/** The only memory of JavaScript that is known to begin at a page. */
function addArena(): void {
  const pages = (ARENA_BLOCKS * BLOCK_BYTES) / WASM_PAGE_BYTES;
  const { buffer } = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  arenas.add(buffer);
  for (let n = ARENA_BLOCKS - 1; n >= 0; n--) free.push(Buffer.from(buffer, n * BLOCK_BYTES, BLOCK_BYTES));
}
