/** A blob store in which small bodies are rows of the database. */
import type { BlobStore, Staging } from './blob-store.ts';
import { isRowKey, MOST_ROW_BYTES } from './body-key.ts';
import type { BodyRows } from './body-rows.ts';

/** Both are closed together with the result. */
export function withRows(blobs: BlobStore, rows: BodyRows): BlobStore {
  return {
    async stage(key, attempt) {
      if (!isRowKey(key)) return blobs.stage(key, attempt);
      return attempt === undefined ? memoryStaging(key, rows) : rowStaging(key, await blobs.stage(key, attempt), rows);
    },
    put: (key, bytes) => (isRowKey(key) ? rows.put(key, bytes) : blobs.put(key, bytes)),
    size: (key) => (isRowKey(key) ? rows.size(key) : blobs.size(key)),
    async *read(key, start, end) {
      if (isRowKey(key)) yield await rows.read(key, start, end);
      else yield* blobs.read(key, start, end);
    },
    remove: (key) => (isRowKey(key) ? rows.remove(key) : blobs.remove(key)),
    async removeBelow(...keys) {
      await rows.removeBelow(keys);
      await blobs.removeBelow(...keys);
    },
    async namesBelow(key) {
      return [...new Set([...(await rows.namesBelow(key)), ...(await blobs.namesBelow(key))])];
    },
    async close() {
      await blobs.close();
      await rows.close();
    },
  };
}

/** A body that comes whole, in one request: it is stored nowhere before it is committed. */
function memoryStaging(key: string, rows: BodyRows): Staging {
  const memory = Buffer.allocUnsafe(MOST_ROW_BYTES);
  let size = 0;
  return {
    get size() {
      return size;
    },
    async append(bytes) {
      if (size + bytes.length > memory.length) throw new RangeError('a body that is too long for a row');
      memory.set(bytes, size);
      size += bytes.length;
    },
    async truncate(to) {
      size = to;
    },
    flush: () => Promise.reject(new Error('a body in memory does not survive a crash')),
    async *read(start, end) {
      yield memory.subarray(start, end);
    },
    commit: () => rows.put(key, memory.subarray(0, size)),
    discard: async () => {},
    close: async () => {},
  };
}

/** A body that comes in pieces is staged like every other one. It becomes a row when it is whole. */
function rowStaging(key: string, staging: Staging, rows: BodyRows): Staging {
  return {
    get size() {
      return staging.size;
    },
    append: (bytes) => staging.append(bytes),
    truncate: (size) => staging.truncate(size),
    flush: () => staging.flush(),
    read: (start, end) => staging.read(start, end),
    async commit() {
      const pieces: Uint8Array[] = [];
      for await (const piece of staging.read(0, staging.size)) pieces.push(piece.slice());
      await rows.put(key, Buffer.concat(pieces));
      await staging.discard();
    },
    discard: () => staging.discard(),
    close: () => staging.close(),
  };
}
