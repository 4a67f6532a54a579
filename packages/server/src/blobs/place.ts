/**
 * The place of a server's blobs: files, its database, or an object store. Plain data, given to every thread. A thread
 * loads only the code for its place: a database loads the whole of a service.
 */
import { type BlobStore, isRowKey } from './blob-store.ts';
import { openChunkedBlobs } from './chunked.ts';
import { openFileBlobs, openSharedFileBlobs, sizeOfFile } from './files.ts';
import { type BodyRows, type RowsPlace, withRows } from './rows.ts';
import type { S3Options } from './s3.ts';

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

/** The size that a database accepts in one statement without delaying others, and that makes a request worth its round trip. */
const ROW_BYTES = 1 << 20;
const OBJECT_BYTES = 8 << 20;
/** Blobs have their own connections, so that long ones do not delay short transactions. */
const CONNECTIONS = 4;

/** Opens its own connections; to the database only when a small body is requested. */
export async function openBodies({ blobs, rows }: BodyPlace): Promise<BlobStore> {
  let opened: Promise<BodyRows> | undefined;
  const inRows = (): Promise<BodyRows> => {
    opened ??= import('./rows.ts').then(({ openRows }) => openRows(rows));
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

/** To look only: an examination makes no folder, in which a later restore would nest its own. */
export async function lookInBodies({ blobs, rows }: BodyPlace): Promise<Pick<BlobStore, 'size' | 'close'>> {
  if (blobs.kind !== 'files' && blobs.kind !== 'shared-files') return openBodies({ blobs, rows });
  const { openRows } = await import('./rows.ts');
  const small = await openRows(rows);
  return {
    size: (key) => (isRowKey(key) ? small.size(key) : sizeOfFile(blobs.folder, key)),
    close: () => small.close(),
  };
}

export async function openBlobs(place: BlobPlace): Promise<BlobStore> {
  switch (place.kind) {
    case 'files':
      return openFileBlobs(place.folder);
    case 'shared-files':
      return { ...(await openSharedFileBlobs(place.folder)), isElsewhere: true };
    case 's3': {
      const { openS3Chunks } = await import('./s3.ts');
      return { ...openChunkedBlobs(await openS3Chunks(place), { chunkBytes: OBJECT_BYTES }), isElsewhere: true };
    }
    case 'database': {
      const { openPostgres } = await import('@basa/service');
      const { SERVER_DATABASE } = await import('../store/schema.ts');
      const { databaseChunks } = await import('./rows.ts');
      const database = await openPostgres({ ...SERVER_DATABASE, url: place.url, connections: CONNECTIONS });
      const chunks = { ...databaseChunks(database), close: () => database.close() };
      return openChunkedBlobs(chunks, { chunkBytes: ROW_BYTES });
    }
  }
}
