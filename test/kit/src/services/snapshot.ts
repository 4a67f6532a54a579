/** Everything in a server's data as values to compare: the rows of its store, and its blobs. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { toHex } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';
import type { Database } from '@basa/service';
import { ROOT } from '../root.ts';
import type { TestServices } from './test-services.ts';

export function snapshot(services: TestServices): { readonly rows: object; readonly blobs: readonly string[] } {
  const folder = join(services.folder, 'server');
  return { rows: rowsOf(folder), blobs: blobsOf(join(folder, 'blobs')) };
}

/** SQLite of the services: a second reader beside the holder of the lock. */
const { DatabaseSync } = createRequire(join(ROOT, 'packages/service/package.json'))('@photostructure/sqlite') as {
  readonly DatabaseSync: new (path: string, options: { readOnly: boolean }) => Database;
};

/** Returns every row, without values that follow the clock: recorded times, and leases. */
function rowsOf(folder: string): Record<string, unknown[]> {
  const db = new DatabaseSync(join(folder, 'basa.sqlite'), { readOnly: true });
  try {
    const tables = db
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'leases' ORDER BY name`)
      .all() as {
      name: string;
    }[];
    const rows = tables.map(({ name }) => [name, db.prepare(`SELECT * FROM ${name}`).all().map(readable)] as const);
    return Object.fromEntries(
      rows.map(([name, all]) => [name, all.filter((row) => (row as { name?: string }).name !== 'alive-at')]),
    );
  } finally {
    db.close();
  }
}

/** Files may come and go meanwhile. */
export function filesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name), { throwIfNoEntry: false })?.isFile(),
  );
}

/** Path and hash of every file that holds something. */
function blobsOf(folder: string): readonly string[] {
  return filesBelow(folder)
    .map((name) => ({ name, bytes: bytesOf(join(folder, name)) }))
    .filter(({ bytes }) => bytes.length > 0)
    .map(({ name, bytes }) => `${name} ${toHex(nodeSuite.sha256(bytes))}`)
    .sort();
}

/** Returns no bytes if the file is gone by now. */
function bytesOf(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Uint8Array();
    throw error;
  }
}

function readable(row: unknown): unknown {
  const entries = Object.entries(row as object);
  return Object.fromEntries(entries.map(([key, value]) => [key, value instanceof Uint8Array ? toHex(value) : value]));
}
