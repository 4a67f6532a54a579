/** Where vectors lie: named, written once, read in pieces. Durable before the record that counts on them. */

/** Bytes on their way in. Nothing of them can be read before `commit`. */
export interface Staging {
  /** Bytes staged so far, whole or not. */
  readonly size: number;
  /** One at a time; the bytes are free for reuse when the promise is fulfilled. */
  append(bytes: Uint8Array): Promise<void>;
  /** Forgets everything from `size` on. */
  truncate(size: number): Promise<void>;
  /** What is staged survives a crash from now on. */
  flush(): Promise<void>;
  read(start: number, end: number): AsyncIterable<Uint8Array>;
  /** Durable under its name from now on. */
  commit(): Promise<void>;
  /** Forgets all of it; where several nodes write, what others staged stays until `removeBelow`. */
  discard(): Promise<void>;
  /** Leaves what is staged for later. */
  close(): Promise<void>;
}

export interface BlobStore {
  /**
   * The staging of this name, with what was left there: whole pieces that were flushed, perhaps more. Attempts to write one
   * name stage apart from each other, at whatever node; the same attempt may be taken up at another one, once the one
   * before has ended. The last commit of a name stays.
   */
  stage(key: string, attempt?: string): Promise<Staging>;
  /** Several nodes may put the same bytes under one name at once. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Undefined where nothing has this name. */
  size(key: string): Promise<number | undefined>;
  /** Bytes from `start` to before `end`; a piece is valid until the next one is asked for. */
  read(key: string, start: number, end: number): AsyncIterable<Uint8Array>;
  remove(key: string): Promise<void>;
  /** Removes everything below these names, staged or committed. */
  removeBelow(...keys: readonly string[]): Promise<void>;
  /** The next parts of the names below this one, staged or committed, each once. */
  namesBelow(key: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Keys are our own words, never a client's; a path that climbs is a fault of ours. */
export function checkedKey(key: string): string {
  if (!/^[a-z0-9-]+(\/[a-z0-9-]+)*$/.test(key)) throw new RangeError(`not the name of a blob: ${JSON.stringify(key)}`);
  return key;
}

/** All of a blob in memory: for small things. */
export async function readWhole(blobs: BlobStore, key: string): Promise<Uint8Array> {
  const size = await blobs.size(key);
  if (size === undefined) throw new Error(`the blob ${key} is missing`);
  return collect(blobs.read(key, 0, size), size);
}

/** Pieces of `length` bytes in all, as one. */
export async function collect(pieces: AsyncIterable<Uint8Array>, length: number): Promise<Uint8Array> {
  const whole = new Uint8Array(length);
  let at = 0;
  for await (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
