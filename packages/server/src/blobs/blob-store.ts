/** The store of vectors: named, written once, read in pieces. Durable before the record that relies on them. */

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
