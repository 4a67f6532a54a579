/** Stores small bodies as rows in the same database as their records, so that no file must be created, flushed and renamed for each. */
import type { SqlDatabase, SqlSession } from '@basa/service';
import { column } from '@basa/service/read-rows';
import { putBody } from '../store/small-bodies.ts';

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
