/** The database of a data folder: opened by one process, checked, and its trouble told in sentences. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { keepPrivate, makePrivateFile, makePrivateFolder } from '../process/durable-names.ts';
import { isStorageFull, StartError } from '../process/start-error.ts';
import { type Application, checkFormat, type DatabaseOptions } from './sql.ts';

//

export type Database = DatabaseSyncInstance;

/** The owner of the data: SQLite's application_id. */
const APPLICATION: Readonly<Record<Application, number>> = { server: 0x42615376, authority: 0x42614175 };

/** Both services use the same name, so that neither starts on the other's data. */
export const DATABASE_FILE = 'basa.sqlite';
const LOCK_FILE = 'basa.lock';

export interface OpenDatabase {
  readonly db: Database;
  /** Its path. */
  readonly file: string;
  /** Releases the file and the lock. */
  close(): void;
}

export function openDatabase(folder: string, options: DatabaseOptions): OpenDatabase {
  const lock = takeLock(folder);
  const file = join(folder, DATABASE_FILE);
  let db: Database | undefined;
  try {
    makePrivateFile(file);
    for (const beside of ['-wal', '-shm']) keepPrivate(file + beside);
    db = new DatabaseSync(file);
    checkOwner(db, folder, options.application);
    checkHealth(db, folder);
    checkFormat(folder, pragma(db, 'user_version'), options);
    const isNew = pragma(db, 'user_version') === 0;
    // secure_delete: a destroyed key is overwritten in the file.
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
             PRAGMA busy_timeout = 5000; PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON;`);
    if (isNew) createTables(db, options);
  } catch (error) {
    db?.close();
    lock.close();
    throw sentenceOf(error, folder);
  }
  const opened = db;
  return {
    db: opened,
    file,
    close() {
      try {
        opened.exec('PRAGMA wal_checkpoint(TRUNCATE)'); // one file to back up
      } finally {
        opened.close();
        lock.close();
      }
    },
  };
}

/** For reading only, in a thread of the process that checked it. */
export function openUnchecked(folder: string): OpenDatabase {
  const file = join(folder, DATABASE_FILE);
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  return { db, file, close: () => db.close() };
}

/** Opens the database of a service that may be running, for reading only; it must have the format of this program. */
export function readDatabase(folder: string, options: DatabaseOptions): OpenDatabase {
  const file = join(folder, DATABASE_FILE);
  let db: Database | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
    checkOwner(db, folder, options.application);
    checkFormat(folder, pragma(db, 'user_version'), options);
  } catch (error) {
    db?.close();
    throw sentenceOf(error, folder);
  }
  const opened = db;
  return { db: opened, file, close: () => opened.close() };
}

/** Writes the database in its current state to a new file, while its service continues. */
export function copyDatabase(folder: string, options: DatabaseOptions, path: string): void {
  const { db, close } = readDatabase(folder, options);
  try {
    makePrivateFile(path); // SQLite treats an empty file like a missing one
    db.prepare('VACUUM INTO ?').run(path);
  } finally {
    close();
  }
}

/** Runs `work` as one transaction. */
export function transaction<Result>(db: Database, work: () => Result): Result {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** The locks of this process: a lock that nothing refers to would be collected, and released. */
const taken = new Set<Database>();

/** An exclusive transaction on a separate file. The system releases it when the process ends, also after a crash. */
export function takeLock(folder: string): Pick<Database, 'close'> {
  try {
    makePrivateFolder(folder);
    makePrivateFile(join(folder, LOCK_FILE));
    const lock = new DatabaseSync(join(folder, LOCK_FILE), { timeout: 0 });
    try {
      lock.exec('BEGIN EXCLUSIVE');
      nameHolder(folder);
      taken.add(lock);
      return {
        close() {
          forgetHolder(folder);
          taken.delete(lock);
          lock.close();
        },
      };
    } catch (error) {
      lock.close();
      throw error;
    }
  } catch (error) {
    throw sentenceOf(error, folder);
  }
}

function checkOwner(db: Database, folder: string, application: Application): void {
  const id = pragma(db, 'application_id');
  if (id === APPLICATION[application]) return;
  const other = (Object.keys(APPLICATION) as Application[]).find((name) => APPLICATION[name] === id);
  if (other !== undefined) {
    throw new StartError(
      'dataFolder',
      `${folder} is the data folder of a BASA ${other}; choose another folder for the ${application}`,
    );
  }
  const { tables } = db.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() as { tables: number };
  if (id !== 0 || tables > 0) {
    throw new StartError('dataFolder', `${folder} contains the database of another program; choose another folder`);
  }
}

function checkHealth(db: Database, folder: string): void {
  const [first] = db.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[];
  if (first?.quick_check !== 'ok') throw damaged(folder, first?.quick_check ?? 'no answer');
}

function createTables(db: Database, { application, format, tables }: DatabaseOptions): void {
  transaction(db, () => {
    for (const table of tables) db.exec(table);
    db.exec(`PRAGMA application_id = ${APPLICATION[application]}; PRAGMA user_version = ${format}`);
  });
}

function pragma(db: Database, name: 'application_id' | 'user_version'): number {
  return (db.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[name] ?? 0;
}

// Trouble with the database of a data folder, in words that say what to do.

const SQLITE = { busy: 5, readOnly: 8, corrupt: 11, cannotOpen: 14, notADatabase: 26 };

/** Describes a fault that an operator can fix, in a sentence. */
function sentenceOf(error: unknown, folder: string): unknown {
  const { code, errcode = 0, message } = error as { code?: string; errcode?: number; message?: string };
  if (isStorageFull(error)) {
    return new StartError('storageFull', `no space is left for ${folder}; free some space and start again`);
  }
  if (code !== undefined && ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOENT'].includes(code)) {
    return new StartError(
      'dataFolder',
      `${folder} cannot be used as a data folder (${code}); check the path and its permissions`,
    );
  }
  if (code !== 'ERR_SQLITE_ERROR') return error;
  switch (errcode & 0xff) {
    case SQLITE.busy:
      return new StartError('inUse', inUseBy(folder));
    case SQLITE.readOnly:
    case SQLITE.cannotOpen:
      return new StartError('dataFolder', `${folder} cannot be written; check its permissions`);
    case SQLITE.corrupt:
    case SQLITE.notADatabase:
      return damaged(folder, message ?? 'not a database');
    default:
      return error;
  }
}

function damaged(folder: string, what: string): StartError {
  return new StartError(
    'dataFolder',
    `the database in ${folder} is damaged (${what.replaceAll('\n', ', ')}); nothing was changed; restore the newest backup of the folder`,
  );
}

// The process that uses a data folder, for the message to the next one. The lock itself is the system's (sql/database.ts).

const FILE = 'basa.pid';

/** Called with the lock held. Errors of a full or read-only disk are ignored: later writes report them. */
function nameHolder(folder: string): void {
  try {
    writeFileSync(join(folder, FILE), JSON.stringify({ pid: process.pid, host: hostname() }), { mode: 0o600 });
  } catch {}
}

function forgetHolder(folder: string): void {
  rmSync(join(folder, FILE), { force: true });
}

/** The sentence for the process that comes second. */
function inUseBy(folder: string): string {
  const { pid, host } = read(folder) ?? {};
  if (pid === undefined) return `${folder} is in use by another process; stop it, or use another folder`;
  if (pid === process.pid && host === hostname()) return `${folder} is already in use by this process`;
  const isHere = host === hostname();
  const who = isHere ? `process ${pid}` : `process ${pid} on ${host}`;
  const stop = isHere && process.platform !== 'win32' ? `stop it (kill ${pid})` : 'stop it there';
  return `${folder} is in use by ${who}; ${stop}, or use another folder`;
}

/** Undefined if it was not written yet, or if it is left from a process of this machine that was killed. */
function read(folder: string): { readonly pid: number; readonly host: string } | undefined {
  try {
    const { pid, host } = JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as { pid?: unknown; host?: unknown };
    if (typeof pid !== 'number' || typeof host !== 'string') return undefined;
    return host !== hostname() || isAlive(pid) ? { pid, host } : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // the process belongs to another user
  }
}
