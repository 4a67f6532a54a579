/** Memory that a disk can read directly and that threads share: whole pages, used again and again. */

export const PAGE_BYTES = 4096;
const BLOCK_BYTES = 512 * 1024;
const WASM_PAGE_BYTES = 64 * 1024;
/** Address space for many blocks. The system allocates memory only for pages that are used. */
const ARENA_BLOCKS = 32;

const arenas = new WeakSet<ArrayBufferLike>();
/** The last one returned is reused first, because its pages are still warm. */
const free: Buffer[] = [];

export function takeBlock(): Buffer {
  if (free.length === 0) addArena();
  return free.pop() as Buffer;
}

/** Copies bytes into the block from `at` on; returns the number that fit. */
export function fillBlock(block: Buffer, at: number, bytes: Uint8Array): number {
  const count = Math.min(bytes.length, block.length - at);
  // `set` copies single bytes into shared memory, which takes five times as long.
  if (count > 0) block.fill(bytes, at, at + count);
  return count;
}

export function giveBlock(block: Buffer): void {
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
