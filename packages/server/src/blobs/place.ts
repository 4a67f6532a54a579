/**
 * Where a server keeps its blobs: in files, in its database, or in an object store. Plain data, given to every thread. A thread loads
 * what its place needs and nothing else: a database brings the whole of a service with it.
 */
import type { BlobStore } from './blob-store.ts';
import type { BodyRows, RowsPlace } from './body-rows.ts';
import { openChunkedBlobs } from './chunked.ts';
import { openFileBlobs, openSharedFileBlobs } from './files.ts';
import type { S3Options } from './s3-requests.ts';
import { withRows } from './with-rows.ts';

export type BlobPlace =
  /** Other nodes write into shared files as well. */
  | { readonly kind: 'files' | 'shared-files'; readonly folder: string }
  | { readonly kind: 'database'; readonly url: string }
  | ({ readonly kind: 's3' } & Omit<S3Options, 'fetch'>);

/** Given to every thread that reads bodies. */
export interface BodyPlace {
  readonly blobs: BlobPlace;
  readonly rows: RowsPlace;
}

/** What a database takes in one statement without holding up others, and a request worth its round trip. */
const ROW_BYTES = 1 << 20;
const OBJECT_BYTES = 8 << 20;
/** Blobs have connections of their own: long ones do not keep short transactions waiting. */
const CONNECTIONS = 4;

/** Opens connections of its own, to the database only when a small body is asked for. */
export async function openBodies({ blobs, rows }: BodyPlace): Promise<BlobStore> {
  let opened: Promise<BodyRows> | undefined;
  const inRows = (): Promise<BodyRows> => {
    opened ??= import('./open-rows.ts').then(({ openRows }) => openRows(rows));
    return opened;
  };
  return withRows(await openBlobs(blobs), {
    put: async (key, bytes) => (await inRows()).put(key, bytes),
    size: async (key) => (await inRows()).size(key),
    read: async (key, start, end) => (await inRows()).read(key, start, end),
    remove: async (key) => (await inRows()).remove(key),
    removeBelow: async (keys) => (await inRows()).removeBelow(keys),
    namesBelow: async (key) => (await inRows()).namesBelow(key),
    close: async () => (await opened)?.close(),
  });
}

export async function openBlobs(place: BlobPlace): Promise<BlobStore> {
  switch (place.kind) {
    case 'files':
      return openFileBlobs(place.folder);
    case 'shared-files':
      return openSharedFileBlobs(place.folder);
    case 's3': {
      const { openS3Chunks } = await import('./s3-chunks.ts');
      return openChunkedBlobs(await openS3Chunks(place), { chunkBytes: OBJECT_BYTES });
    }
    case 'database': {
      const { openPostgres } = await import('@basa/service');
      const { SERVER_DATABASE } = await import('../store/schema.ts');
      const { databaseChunks } = await import('./database-chunks.ts');
      const database = await openPostgres({ ...SERVER_DATABASE, url: place.url, connections: CONNECTIONS });
      const chunks = { ...databaseChunks(database), close: () => database.close() };
      return openChunkedBlobs(chunks, { chunkBytes: ROW_BYTES });
    }
  }
}
