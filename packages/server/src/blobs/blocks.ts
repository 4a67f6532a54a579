/** Memory that a disk can take bytes from by itself: whole pages, used again and again. */

export const PAGE_BYTES = 4096;
const BLOCK_BYTES = 512 * 1024;
const WASM_PAGE_BYTES = 64 * 1024;
/** Address space for many blocks at once; the system gives memory to what is touched. */
const ARENA_BLOCKS = 32;

const arenas = new WeakSet<ArrayBufferLike>();
/** The last one given back first: its pages are still warm. */
const free: Uint8Array[] = [];

export function takeBlock(): Uint8Array {
  if (free.length === 0) addArena();
  return free.pop() as Uint8Array;
}

export function giveBlock(block: Uint8Array): void {
  free.push(block);
}

/** Whether these bytes lie in a block and begin at a page. */
export function isAligned(bytes: Uint8Array): boolean {
  return bytes.byteOffset % PAGE_BYTES === 0 && arenas.has(bytes.buffer);
}

/** The only memory of JavaScript that is known to begin at a page. */
function addArena(): void {
  const { buffer } = new WebAssembly.Memory({ initial: (ARENA_BLOCKS * BLOCK_BYTES) / WASM_PAGE_BYTES });
  arenas.add(buffer);
  for (let n = ARENA_BLOCKS - 1; n >= 0; n--) free.push(new Uint8Array(buffer, n * BLOCK_BYTES, BLOCK_BYTES));
}
