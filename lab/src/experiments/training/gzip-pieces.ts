/**
 * Writes a long stream as compressed files of limited size. Each file can be read with gzip separately, so they can be transferred one by
 * one.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** Below the size limit for one file on the GPU machine. */
const PIECE_BYTES = 44 * 2 ** 20;
const BLOCK_BYTES = 2 ** 22;

export class GzipPieces {
  readonly #fileOf: (piece: number) => string;
  readonly #mostBytes: number;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #pieces = 0;
  #pieceBytes = 0;

  constructor(fileOf: (piece: number) => string, mostBytes = PIECE_BYTES) {
    this.#fileOf = fileOf;
    this.#mostBytes = mostBytes;
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
      const part = bytes.subarray(at, at + BLOCK_BYTES);
      this.#waiting.push(part);
      this.#waitingBytes += part.length;
      if (this.#waitingBytes >= BLOCK_BYTES) this.#flush();
    }
  }

  /** Returns how many pieces there are. */
  end(): number {
    if (this.#waitingBytes > 0 || this.#pieces === 0) this.#flush();
    return this.#pieces;
  }

  #flush(): void {
    const block = gzipSync(Buffer.concat(this.#waiting));
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (this.#pieces === 0 || this.#pieceBytes + block.length > this.#mostBytes) {
      writeFileSync(this.#fileOf(this.#pieces++), '');
      this.#pieceBytes = 0;
    }
    appendFileSync(this.#fileOf(this.#pieces - 1), block);
    this.#pieceBytes += block.length;
  }
}
