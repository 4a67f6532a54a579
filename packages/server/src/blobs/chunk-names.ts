/**
 * The objects of a blob in a store of chunks, below its key:
 *
 *     uploads/…/.0.000000000000-524288-9f3c…   512 KiB from byte 0 of attempt 0, by one writer
 *     uploads/…/.whole                          the names of the chunks it is made of, once it is committed
 *
 * The chunk names of a writer contain its mark, so two nodes that write one blob at the same time never overwrite each other.
 */

export interface Chunk {
  readonly name: string;
  readonly start: number;
  readonly length: number;
}

/** The prefix of the chunks of an attempt to write a blob. */
export function attemptOf(key: string, attempt: string): string {
  return `${key}/.${attempt}.`;
}

export function chunkOf(place: string, start: number, length: number, mark: string): Chunk {
  return { name: `${place}${String(start).padStart(12, '0')}-${length}-${mark}`, start, length };
}

export function wholeName(key: string): string {
  return `${key}/.whole`;
}

/** Undefined for a name of another kind. */
export function readChunkName(key: string, name: string): Chunk | undefined {
  const [, start, length] = /^\/\.[a-z0-9-]+\.(\d{12})-(\d+)-[0-9a-f]+$/.exec(name.slice(key.length)) ?? [];
  if (!name.startsWith(key) || start === undefined || length === undefined) return undefined;
  return { name, start: Number(start), length: Number(length) };
}

/** Returns chunks one after the other from byte 0 on, the longest first if several begin at one place. */
export function chainOf(chunks: readonly Chunk[]): readonly Chunk[] {
  const chain: Chunk[] = [];
  for (let at = 0; ; ) {
    const next = chunks.filter(({ start }) => start === at).sort((a, b) => b.length - a.length)[0];
    if (next === undefined) return chain;
    chain.push(next);
    at += next.length;
  }
}

/** The content of `.whole`: one chunk's name after its key per line. */
export function encodeWhole(key: string, chunks: readonly Chunk[]): Uint8Array {
  return new TextEncoder().encode(chunks.map(({ name }) => name.slice(key.length)).join('\n'));
}

export function decodeWhole(key: string, bytes: Uint8Array): readonly Chunk[] {
  const text = new TextDecoder().decode(bytes);
  if (text === '') return [];
  return text.split('\n').map((rest) => {
    const chunk = readChunkName(key, key + rest);
    if (chunk === undefined) throw new Error(`the list of the blob ${key} is damaged`);
    return chunk;
  });
}
