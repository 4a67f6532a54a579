/** The store of vectors: named, written once, read in pieces; durable before the record that relies on them. */
import { toHex } from '@basa/masking';
import type { Ctx } from '@basa/protocol';

/** Bytes on their way in. Nothing of them can be read before `commit`. */
export interface Staging {
  /** Bytes staged so far, whole or not. */
  readonly size: number;
  /** One at a time; the bytes are free for reuse when the promise is fulfilled. */
  append(bytes: Uint8Array): Promise<void>;
  /** Discards everything from `size` on. */
  truncate(size: number): Promise<void>;
  /** The staged bytes survive a crash from now on. */
  flush(): Promise<void>;
  read(start: number, end: number): AsyncIterable<Uint8Array>;
  /** Durable under its name from now on. */
  commit(): Promise<void>;
  /** Discards all of it; if several nodes write, bytes that others staged stay until `removeBelow`. */
  discard(): Promise<void>;
  /** Keeps the staged bytes for later. */
  close(): Promise<void>;
}

export interface BlobStore {
  /** True if the blobs lie outside the server's own disks: others may write there. */
  readonly isElsewhere?: boolean | undefined;
  /**
   * Opens the staging of this name, with the bytes that were left there: whole pieces that were flushed, perhaps more.
   * Attempts to write one name stage separately, on any node; another node may continue the same attempt, once the one
   * before has ended. The last commit of a name wins.
   */
  stage(key: string, attempt?: string): Promise<Staging>;
  /** Several nodes may write the same bytes under one name at the same time. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Undefined if nothing has this name. */
  size(key: string): Promise<number | undefined>;
  /** Returns the bytes from `start` to before `end`; a piece is valid until the next one is requested. */
  read(key: string, start: number, end: number): AsyncIterable<Uint8Array>;
  remove(key: string): Promise<void>;
  /** Removes everything below these names, staged or committed. */
  removeBelow(...keys: readonly string[]): Promise<void>;
  /** The next parts of the names below this one, staged or committed, each once. */
  namesBelow(key: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Keys are made by us, never by a client; a path that climbs is our own fault. */
export function checkedKey(key: string): string {
  if (!/^[a-z0-9-]+(\/[a-z0-9-]+)*$/.test(key)) throw new RangeError(`not the name of a blob: ${JSON.stringify(key)}`);
  return key;
}

/** Reads all of a blob into memory, for small ones. */
export async function readWhole(blobs: BlobStore, key: string): Promise<Uint8Array> {
  const size = await blobs.size(key);
  if (size === undefined) throw new Error(`the blob ${key} is missing`);
  return collect(blobs.read(key, 0, size), size);
}

/** Joins pieces of `length` bytes in total. */
export async function collect(pieces: AsyncIterable<Uint8Array>, length: number): Promise<Uint8Array> {
  const whole = new Uint8Array(length);
  let at = 0;
  for await (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The prefix of the bodies of all uploads, and of the sums of all batches. */
export const BODIES = 'uploads';

/** Below the name of an upload, or of a batch. */
export function bodiesOf(name: Ctx): string {
  return `${BODIES}/${toHex(name)}`;
}

/** A body of at most this size is a row of the database, not a file. */
export const MOST_ROW_BYTES: number = 64 * 1024;
const ROW = '-row';

/** An upload has one body: its record names the checksum before the first byte comes. */
export function bodyKey(upload: Ctx, { bodyBytes }: { readonly bodyBytes: number }): string {
  return `${bodiesOf(upload)}/body${bodyBytes <= MOST_ROW_BYTES ? ROW : ''}`;
}

export function isRowKey(key: string): boolean {
  return key.endsWith(ROW);
}

/** Bytes as words: pieces of a blob regrouped so that each holds whole words. A piece of words is valid until the next one is requested. */
export async function* wordPieces(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint32Array> {
  let rest = new Uint8Array(0);
  for await (const piece of pieces) {
    const joined = rest.length === 0 && piece.byteOffset % 4 === 0 ? piece : joinedOf(rest, piece);
    const words = Math.floor(joined.length / 4);
    yield new Uint32Array(joined.buffer, joined.byteOffset, words);
    rest = joined.slice(4 * words);
  }
}

/** In memory that is aligned for words. */
function joinedOf(rest: Uint8Array, piece: Uint8Array): Uint8Array {
  const joined = new Uint8Array(rest.length + piece.length);
  joined.set(rest);
  joined.set(piece, rest.length);
  return joined;
}
