/**
 * Blobs in chunks, for nodes that share a database or an object store: a chunk is durable when it is written, can be
 * read before the blob is whole, and belongs to one writer. No node removes a chunk that another writer may rely on:
 * what is left of a batch is removed when the batch ends.
 */
import { toHex } from '@basa/masking';
import { nodeRandomBytes } from '@basa/runtime/node';
import { type BlobStore, checkedKey, type Staging } from './blob-store.ts';

export interface ChunkedOptions {
  /** Bytes of a full chunk. */
  readonly chunkBytes: number;
}

const CUT_OFF = 'the blob ends';
/** The default attempt. */
const ONLY = '0';

export function openChunkedBlobs(chunks: ChunkStore, { chunkBytes }: ChunkedOptions): BlobStore {
  const wholeOf = async (key: string): Promise<readonly Chunk[] | undefined> => {
    const list = await chunks.get(wholeName(checkedKey(key)));
    return list === undefined ? undefined : decodeWhole(key, list);
  };
  const stage = async (key: string, attempt = ONLY): Promise<Staging> => {
    const names = await chunks.list(attemptOf(checkedKey(key), attempt));
    const chain = chainOf(names.flatMap((name) => readChunkName(key, name) ?? []));
    return new ChunkedStaging(chunks, { key, attempt, chain, chunkBytes });
  };
  return {
    stage,
    async put(key, bytes) {
      const staging = new ChunkedStaging(chunks, { key: checkedKey(key), attempt: ONLY, chain: [], chunkBytes });
      try {
        await staging.append(bytes);
        await staging.commit();
      } catch (error) {
        await staging.discard();
        throw error;
      }
    },
    async size(key) {
      const whole = await wholeOf(key);
      return whole === undefined ? undefined : sizeOf(whole);
    },
    async *read(key, start, end) {
      const whole = await wholeOf(key);
      if (whole === undefined) throw new Error(`the blob ${key} is missing`);
      yield* readChunks(chunks, whole, start, end);
    },
    async remove(key) {
      // Removes its list first, so that half a blob never looks whole.
      await chunks.remove([wholeName(checkedKey(key))]);
      await chunks.remove(await chunks.list(`${key}/.`));
    },
    async removeBelow(...keys) {
      for (const key of keys) await chunks.remove(await chunks.list(`${checkedKey(key)}/`));
    },
    async namesBelow(key) {
      const below = `${checkedKey(key)}/`;
      const names = (await chunks.list(below)).map((name) => name.slice(below.length).split('/')[0] ?? '');
      return [...new Set(names.filter((name) => !name.startsWith('.')))];
    },
    close: () => chunks.close(),
  };
}

interface Staged extends ChunkedOptions {
  readonly key: string;
  readonly attempt: string;
  readonly chain: readonly Chunk[];
}

class ChunkedStaging implements Staging {
  readonly #chunks: ChunkStore;
  readonly #key: string;
  readonly #place: string;
  readonly #mark = toHex(nodeRandomBytes(8));
  /** One full chunk at most. */
  readonly #block: Uint8Array;
  #filled = 0;
  #chain: Chunk[];
  readonly #own = new Set<string>();

  constructor(chunks: ChunkStore, { key, attempt, chain, chunkBytes }: Staged) {
    this.#chunks = chunks;
    this.#key = key;
    this.#place = attemptOf(key, attempt);
    this.#chain = [...chain];
    this.#block = new Uint8Array(chunkBytes);
  }

  get size(): number {
    return sizeOf(this.#chain) + this.#filled;
  }

  async append(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const taken = bytes.subarray(at, at + this.#block.length - this.#filled);
      this.#block.set(taken, this.#filled);
      this.#filled += taken.length;
      at += taken.length;
      if (this.#filled === this.#block.length) await this.flush();
    }
  }

  /** A chunk that is cut is written again, as far as it is kept: others may rely on the old one. */
  async truncate(size: number): Promise<void> {
    const durable = sizeOf(this.#chain);
    if (size >= durable) {
      this.#filled = size - durable;
      return;
    }
    this.#filled = 0;
    const kept = this.#chain.filter(({ start, length }) => start + length <= size);
    const cut = this.#chain[kept.length];
    const forgotten = this.#chain.slice(kept.length);
    this.#chain = kept;
    if (cut !== undefined && cut.start < size)
      for await (const piece of readChunks(this.#chunks, [{ ...cut, start: 0 }], 0, size - cut.start))
        await this.append(piece);
    await this.#removeOwn(forgotten.map(({ name }) => name));
  }

  async flush(): Promise<void> {
    if (this.#filled === 0) return;
    const chunk = chunkOf(this.#place, sizeOf(this.#chain), this.#filled, this.#mark);
    await this.#chunks.put(chunk.name, this.#block.subarray(0, this.#filled));
    this.#own.add(chunk.name);
    this.#chain.push(chunk);
    this.#filled = 0;
  }

  async *read(start: number, end: number): AsyncIterable<Uint8Array> {
    const durable = sizeOf(this.#chain);
    yield* readChunks(this.#chunks, this.#chain, start, Math.min(end, durable));
    if (end > durable + this.#filled) throw new Error(`${CUT_OFF} at ${this.size}, ${end - this.size} bytes early`);
    if (end > durable) yield this.#block.subarray(Math.max(0, start - durable), end - durable);
  }

  async commit(): Promise<void> {
    await this.flush();
    await this.#chunks.put(wholeName(this.#key), encodeWhole(this.#key, this.#chain));
    this.#own.clear();
  }

  async discard(): Promise<void> {
    this.#chain = [];
    this.#filled = 0;
    await this.#removeOwn([...this.#own]);
  }

  async close(): Promise<void> {
    await this.flush();
  }

  async #removeOwn(names: readonly string[]): Promise<void> {
    const own = names.filter((name) => this.#own.delete(name));
    if (own.length > 0) await this.#chunks.remove(own);
  }
}

function sizeOf(chain: readonly Chunk[]): number {
  const last = chain.at(-1);
  return last === undefined ? 0 : last.start + last.length;
}

/** One chunk in memory at a time. */
async function* readChunks(
  chunks: ChunkStore,
  chain: readonly Chunk[],
  start: number,
  end: number,
): AsyncIterable<Uint8Array> {
  const size = sizeOf(chain);
  for (const { name, start: from, length } of chain) {
    if (from >= end || from + length <= start) continue;
    const bytes = await chunks.get(name);
    if (bytes?.length !== length) throw new Error(`a chunk of a blob is missing or damaged: ${name}`);
    yield bytes.subarray(Math.max(0, start - from), Math.min(length, end - from));
  }
  if (end > size && start < end) throw new Error(`${CUT_OFF} at ${size}, ${end - size} bytes early`);
}

/**
 * The objects of a blob in a store of chunks, below its key:
 *
 *     uploads/…/.0.000000000000-524288-9f3c…   512 KiB from byte 0 of attempt 0, by one writer
 *     uploads/…/.whole                          the names of the chunks it is made of, once it is committed
 *
 * The chunk names of a writer contain its mark, so two nodes that write one blob at the same time never overwrite each other.
 */
interface Chunk {
  readonly name: string;
  readonly start: number;
  readonly length: number;
}

/** The prefix of the chunks of an attempt to write a blob. */
function attemptOf(key: string, attempt: string): string {
  return `${key}/.${attempt}.`;
}

function chunkOf(place: string, start: number, length: number, mark: string): Chunk {
  return { name: `${place}${String(start).padStart(12, '0')}-${length}-${mark}`, start, length };
}

function wholeName(key: string): string {
  return `${key}/.whole`;
}

/** Undefined for a name of another kind. */
function readChunkName(key: string, name: string): Chunk | undefined {
  const [, start, length] = /^\/\.[a-z0-9-]+\.(\d{12})-(\d+)-[0-9a-f]+$/.exec(name.slice(key.length)) ?? [];
  if (!name.startsWith(key) || start === undefined || length === undefined) return undefined;
  return { name, start: Number(start), length: Number(length) };
}

/** Returns chunks one after the other from byte 0 on, the longest first if several begin at one place. */
function chainOf(chunks: readonly Chunk[]): readonly Chunk[] {
  const chain: Chunk[] = [];
  for (let at = 0; ; ) {
    const next = chunks.filter(({ start }) => start === at).sort((a, b) => b.length - a.length)[0];
    if (next === undefined) return chain;
    chain.push(next);
    at += next.length;
  }
}

/** The content of `.whole`: one chunk's name after its key per line. */
function encodeWhole(key: string, chunks: readonly Chunk[]): Uint8Array {
  return new TextEncoder().encode(chunks.map(({ name }) => name.slice(key.length)).join('\n'));
}

function decodeWhole(key: string, bytes: Uint8Array): readonly Chunk[] {
  const text = new TextDecoder().decode(bytes);
  if (text === '') return [];
  return text.split('\n').map((rest) => {
    const chunk = readChunkName(key, key + rest);
    if (chunk === undefined) throw new Error(`the list of the blob ${key} is damaged`);
    return chunk;
  });
}

/** The store of chunks: small named objects, written whole or not at all, visible to every node once written. */
export interface ChunkStore {
  /** Durable, and visible to all later reads. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  get(name: string): Promise<Uint8Array | undefined>;
  /** Names that begin with `prefix`, in their order. */
  list(prefix: string): Promise<readonly string[]>;
  /** Missing ones are not an error. */
  remove(names: readonly string[]): Promise<void>;
  close(): Promise<void>;
}
