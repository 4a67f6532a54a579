/** A file in blocks. */
import type { FileHandle } from 'node:fs/promises';

const BLOCK_BYTES = 512 * 1024;

/** A block is valid until the next one is requested. */
export async function* readFile(file: FileHandle, start: number, end: number): AsyncIterable<Uint8Array> {
  const block = new Uint8Array(Math.min(BLOCK_BYTES, Math.max(0, end - start)));
  for (let at = start; at < end; ) {
    const { bytesRead } = await file.read(block, 0, Math.min(block.length, end - at), at);
    if (bytesRead === 0) throw new Error(`the blob ends at ${at}, ${end - at} bytes early`);
    yield block.subarray(0, bytesRead);
    at += bytesRead;
  }
}
