/** Blobs as rows: small bodies in the same database as their records, so that no file must be created, flushed and renamed for each, and chunks of all others. */
import type { SqlDatabase, SqlSession } from '@basa/service';
import { column, readEmbedded } from '@basa/service/read-rows';
import { putBody } from '../store/shots.ts';
import { type BlobStore, isRowKey, type Staging } from './blob-store.ts';
import type { ChunkStore } from './chunked.ts';

/** The database whose rows hold small bodies: of a data folder, or shared. */
export type RowsPlace = { readonly folder: string } | { readonly url: string };

export interface BodyRows {
  /** Durable with the next write to the same database. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  size(key: string): Promise<number | undefined>;
  read(key: string, start: number, end: number): Promise<Uint8Array>;
  remove(key: string): Promise<void>;
  /** Removes everything below these names. */
  removeBelow(keys: readonly string[]): Promise<void>;
  namesBelow(key: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** A slash, and the next character in the order of bytes. */
const BELOW = 'name >= ? AND name < ?';
const between = (key: string): [string, string] => [`${key}/`, `${key}0`];

/** `database` stays open: its opener closes it. */
export function bodyRows(database: SqlDatabase): BodyRows {
  const lightly = <Result>(work: (session: SqlSession) => Promise<Result>): Promise<Result> =>
    database.transaction(work, { mayBeLost: true });
  return {
    async put(key, bytes) {
      await lightly((session) => putBody(session, { key, bytes }));
    },
    async size(key) {
      const [row] = await database.peek('SELECT length(bytes) AS size FROM bodies WHERE name = ?', key);
      return row && column.number(row, 'size');
    },
    async read(key, start, end) {
      const piece = 'SELECT substr(bytes, ?, ?) AS piece FROM bodies WHERE name = ?';
      const [row] = await database.peek(piece, start + 1, end - start, key);
      if (row === undefined) throw new Error(`the body ${key} is missing`);
      return column.bytes(row, 'piece');
    },
    async remove(key) {
      await lightly(({ query }) => query('DELETE FROM bodies WHERE name = ?', key));
    },
    removeBelow: (keys) =>
      lightly(async ({ query }) => {
        for (const key of keys) await query(`DELETE FROM bodies WHERE ${BELOW}`, ...between(key));
      }),
    async namesBelow(key) {
      const rows = await database.peek(`SELECT name FROM bodies WHERE ${BELOW}`, ...between(key));
      const parts = rows.map(
        (row) =>
          column
            .text(row, 'name')
            .slice(key.length + 1)
            .split('/')[0] as string,
      );
      return [...new Set(parts)];
    },
    close: async () => {},
  };
}

/** Opens small bodies for another thread or program: with its own connection, and read-only in a data folder. */
export async function openRows(place: RowsPlace): Promise<BodyRows> {
  const database = 'url' in place ? await shared(place.url) : readEmbedded(place.folder);
  return { ...bodyRows(database), close: () => database.close() };
}

/** Loads the whole of a service. */
async function shared(url: string) {
  const { openPostgres } = await import('@basa/service');
  const { SERVER_DATABASE } = await import('../store/schema.ts');
  return openPostgres({ ...SERVER_DATABASE, url, connections: 1 });
}

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

/** `database` stays open: its opener closes it. */
export function databaseChunks(database: SqlDatabase): ChunkStore {
  return {
    put: (name, bytes) =>
      database.transaction(async (session) => {
        const insert =
          'INSERT INTO chunks (name, bytes) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET bytes = excluded.bytes';
        await session.query(insert, name, bytes);
      }),
    get: (name) =>
      database.transaction(async (session) => {
        const [row] = await session.query('SELECT bytes FROM chunks WHERE name = ?', name);
        return row === undefined ? undefined : column.bytes(row, 'bytes');
      }),
    list: (prefix) =>
      database.transaction(async (session) => {
        const rows = await session.query(
          'SELECT name FROM chunks WHERE name >= ? AND name < ? ORDER BY name',
          prefix,
          after(prefix),
        );
        return rows.map((row) => column.text(row, 'name'));
      }),
    remove: (names) =>
      database.transaction(async (session) => {
        for (const name of names) await session.query('DELETE FROM chunks WHERE name = ?', name);
      }),
    close: async () => {},
  };
}

/** The first text after all texts that begin with `prefix`, in the order of bytes. */
function after(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}
