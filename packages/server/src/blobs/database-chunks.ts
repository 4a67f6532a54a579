/** Chunks as rows of the server's own database: no additional service to run, but they use the database's disk and memory. */
import { column, type SqlDatabase } from '@basa/service';
import type { ChunkStore } from './chunks.ts';

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
