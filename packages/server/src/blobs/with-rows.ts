/** A blob store in which small bodies are rows of the database. */
import type { BlobStore, Staging } from './blob-store.ts';
import { isRowKey } from './body-key.ts';
import type { BodyRows } from './body-rows.ts';

/** Both are closed together with the result. */
export function withRows(blobs: BlobStore, rows: BodyRows): BlobStore {
  return {
    isElsewhere: blobs.isElsewhere,
    async stage(key, attempt) {
      const staging = await blobs.stage(key, attempt);
      return isRowKey(key) ? rowStaging(key, staging, rows) : staging;
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

/** A small body is staged as every other one. It becomes a row when it is whole. */
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
