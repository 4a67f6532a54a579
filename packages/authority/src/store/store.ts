/** The database of an authority: its tables, and every read and write of them. */

import { equalBytes } from '@basa/masking';
import type { Ctx, TaskId, UserId } from '@basa/protocol';
import { TaskPolicy } from '@basa/protocol/policy';
import { Devices } from '@basa/protocol/wire';
import {
  column,
  type DatabaseOptions,
  FIRST_FORMAT,
  openDatabase,
  type Row,
  type SqlSession,
  type SqlWatch,
  sqliteDatabase,
} from '@basa/service';
import type { VaultParameters } from './vault.ts';

// The tables of an authority.

export const TABLES = `
  CREATE TABLE vault (
    id INTEGER PRIMARY KEY CHECK (id = 1), kind TEXT NOT NULL, salt BLOB NOT NULL,
    cost INTEGER NOT NULL, block_size INTEGER NOT NULL, parallel INTEGER NOT NULL, signing_key BLOB NOT NULL);
  CREATE TABLE tasks (task BLOB PRIMARY KEY, policy BLOB NOT NULL);
  CREATE TABLE devices (
    task BLOB NOT NULL REFERENCES tasks, user BLOB NOT NULL, device_key BLOB NOT NULL,
    PRIMARY KEY (task, user)) WITHOUT ROWID;
  CREATE TABLE predecessors (
    task BLOB PRIMARY KEY REFERENCES tasks, predecessor BLOB NOT NULL, needed INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE imported (
    task BLOB NOT NULL REFERENCES predecessors, user BLOB NOT NULL, authority INTEGER NOT NULL,
    revoked INTEGER NOT NULL, participations INTEGER NOT NULL, PRIMARY KEY (task, user, authority)) WITHOUT ROWID;
  CREATE TABLE revoked (user BLOB PRIMARY KEY);
  CREATE TABLE older_keys (sealed BLOB NOT NULL);
  CREATE TABLE participations (
    task BLOB NOT NULL, user BLOB NOT NULL, ctx BLOB NOT NULL, PRIMARY KEY (task, user, ctx)) WITHOUT ROWID;
  CREATE TABLE paper_keys (task BLOB PRIMARY KEY, sealed BLOB NOT NULL);
  CREATE TABLE tokens (
    task BLOB NOT NULL, hash BLOB NOT NULL, ends_at INTEGER NOT NULL, used_by BLOB, PRIMARY KEY (task, hash));
  CREATE TABLE allowed (task BLOB NOT NULL, device_key BLOB NOT NULL, PRIMARY KEY (task, device_key));`;

// The store of an authority's tasks, devices and sealed keys: the database in its data folder.

export interface AuthorityStore {
  /** Its data folder, for messages to people. */
  readonly place: string;
  /** Runs all of `work` or nothing, and is durable when it ends. */
  transaction<Result>(work: (tables: AuthorityTables) => Promise<Result>): Promise<Result>;
  /** Called after something was destroyed: removes it from the files that we can empty. */
  purge(): Promise<void>;
  close(): Promise<void>;
}

export interface StoreOptions extends SqlWatch {
  readonly clock?: (() => number) | undefined;
}

export const AUTHORITY_DATABASE: DatabaseOptions = { application: 'authority', format: FIRST_FORMAT, tables: [TABLES] };

export function openStore(dataFolder: string, { clock = Date.now, ...watch }: StoreOptions = {}): AuthorityStore {
  const database = sqliteDatabase(openDatabase(dataFolder, AUTHORITY_DATABASE), clock, watch);
  return {
    place: dataFolder,
    transaction: (work) => database.transaction((session) => work(new AuthorityTables(session))),
    purge: () => database.checkpoint(),
    close: () => database.close(),
  };
}

// The authority's reads and writes inside one transaction: tasks, devices, sealed keys, enrolment tokens and the allow-list.

export interface StoredVault {
  readonly parameters: VaultParameters;
  readonly signingKey: Uint8Array;
}

/** The master key of a task of `paper` mode. */
export interface StoredPaperKey {
  readonly task: TaskId;
  readonly sealed: Uint8Array;
}

export interface StoredDevice {
  readonly user: UserId;
  readonly deviceKey: Uint8Array;
  readonly isRevoked: boolean;
}

export class AuthorityTables {
  readonly #session: SqlSession;

  constructor(session: SqlSession) {
    this.#session = session;
  }

  now(): Promise<number> {
    return this.#session.now();
  }

  async vault(): Promise<StoredVault | undefined> {
    const [row] = await this.#session.query('SELECT * FROM vault');
    return row === undefined ? undefined : readVault(row);
  }

  async createVault({ parameters, signingKey }: StoredVault): Promise<void> {
    const { kind, salt, cost, blockSize, parallel } = parameters;
    const insert = `INSERT INTO vault (id, kind, salt, cost, block_size, parallel, signing_key)
      VALUES (1, ?, ?, ?, ?, ?, ?)`;
    await this.#session.query(insert, kind, salt, cost, blockSize, parallel, signingKey);
  }

  /** Under another secret: together with every sealed key, in one transaction. */
  async replaceVault({ parameters, signingKey }: StoredVault): Promise<void> {
    const { kind, salt, cost, blockSize, parallel } = parameters;
    const update =
      'UPDATE vault SET kind = ?, salt = ?, cost = ?, block_size = ?, parallel = ?, signing_key = ? WHERE id = 1';
    await this.#session.query(update, kind, salt, cost, blockSize, parallel, signingKey);
  }

  async policies(): Promise<readonly TaskPolicy[]> {
    const rows = await this.#session.query('SELECT policy FROM tasks ORDER BY rowid');
    return rows.map((row) => TaskPolicy.decode(column.bytes(row, 'policy')));
  }

  async addTask(task: TaskId, policy: TaskPolicy): Promise<void> {
    const insert = 'INSERT INTO tasks (task, policy) VALUES (?, ?) ON CONFLICT DO NOTHING';
    await this.#session.query(insert, task, TaskPolicy.encode(policy));
  }

  async isEnrolled(task: TaskId, user: UserId): Promise<boolean> {
    const select = 'SELECT user FROM devices WHERE task = ? AND user = ?';
    return (await this.#session.query(select, task, user)).length > 0;
  }

  async enrol(task: TaskId, user: UserId, deviceKey: Uint8Array): Promise<void> {
    await this.#session.query('INSERT INTO devices (task, user, device_key) VALUES (?, ?, ?)', task, user, deviceKey);
  }

  /** Those from this name on, in the order of their names. */
  async devices(task: TaskId, from: Uint8Array, most: number): Promise<readonly StoredDevice[]> {
    const select = `SELECT user, device_key, user IN (SELECT user FROM revoked) AS is_revoked FROM devices
      WHERE task = ? AND user >= ? ORDER BY user LIMIT ?`;
    return (await this.#session.query(select, task, from, most)).map((row) => ({
      user: column.bytes(row, 'user') as UserId,
      deviceKey: column.bytes(row, 'device_key'),
      isRevoked: column.number(row, 'is_revoked') === 1,
    }));
  }

  /** Without those that were revoked. */
  async countDevices(task: TaskId): Promise<number> {
    const count = 'SELECT count(*) AS n FROM devices WHERE task = ? AND user NOT IN (SELECT user FROM revoked)';
    const [row] = await this.#session.query(count, task);
    return row === undefined ? 0 : column.number(row, 'n');
  }

  async revoke(user: UserId): Promise<void> {
    await this.#session.query('INSERT INTO revoked (user) VALUES (?)', user);
  }

  async isRevoked(user: UserId): Promise<boolean> {
    return (await this.#session.query('SELECT user FROM revoked WHERE user = ?', user)).length > 0;
  }

  /** The newest ones. */
  async revoked(most: number): Promise<readonly UserId[]> {
    const rows = await this.#session.query('SELECT user FROM revoked ORDER BY rowid DESC LIMIT ?', most);
    return rows.map((row) => column.bytes(row, 'user') as UserId);
  }

  /** A task succeeds one other. Returns the one that is stored. */
  async addPredecessor(task: TaskId, predecessor: TaskId, needed: number): Promise<TaskId> {
    const insert = 'INSERT INTO predecessors (task, predecessor, needed) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
    await this.#session.query(insert, task, predecessor, needed);
    const [row] = await this.#session.query('SELECT predecessor FROM predecessors WHERE task = ?', task);
    return row === undefined ? predecessor : (column.bytes(row, 'predecessor') as TaskId);
  }

  /** The word of an authority of the predecessor about a device; its newest word counts. */
  async addImported(
    task: TaskId,
    authority: number,
    user: UserId,
    { isRevoked, participations }: Pick<Devices.ExportedDevice, 'isRevoked' | 'participations'>,
  ): Promise<void> {
    const insert = `INSERT INTO imported (task, user, authority, revoked, participations) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (task, user, authority) DO UPDATE SET revoked = excluded.revoked, participations = excluded.participations`;
    await this.#session.query(insert, task, user, authority, isRevoked ? 1 : 0, participations);
  }

  async importedAs(task: TaskId, user: UserId): Promise<Devices.ImportedDevice> {
    const [row] = await this.#session.query(`${IMPORTED} WHERE i.task = ? AND i.user = ? GROUP BY i.user`, task, user);
    return row === undefined ? 'unknown' : readImported(row);
  }

  async allImported(task: TaskId): Promise<readonly Devices.ImportedDevice[]> {
    return (await this.#session.query(`${IMPORTED} WHERE i.task = ? GROUP BY i.user`, task)).map(readImported);
  }

  async paperKeys(): Promise<readonly StoredPaperKey[]> {
    return (await this.#session.query('SELECT * FROM paper_keys')).map((row) => ({
      task: column.bytes(row, 'task') as TaskId,
      sealed: column.bytes(row, 'sealed'),
    }));
  }

  /** An existing one stays. Returns the one that is stored. */
  async addPaperKey(key: StoredPaperKey): Promise<StoredPaperKey> {
    const { task, sealed } = key;
    const insert = 'INSERT INTO paper_keys (task, sealed) VALUES (?, ?) ON CONFLICT DO NOTHING';
    await this.#session.query(insert, task, sealed);
    return (await this.paperKeys()).find((one) => equalBytes(one.task, task)) ?? key;
  }

  async resealPaperKey({ task, sealed }: StoredPaperKey): Promise<void> {
    await this.#session.query('UPDATE paper_keys SET sealed = ? WHERE task = ?', sealed, task);
  }

  /** Keys of earlier vaults, sealed by this one. */
  async olderKeys(): Promise<readonly Uint8Array[]> {
    return (await this.#session.query('SELECT sealed FROM older_keys')).map((row) => column.bytes(row, 'sealed'));
  }

  async replaceOlderKeys(sealed: readonly Uint8Array[]): Promise<void> {
    await this.#session.query('DELETE FROM older_keys');
    for (const one of sealed) await this.#session.query('INSERT INTO older_keys (sealed) VALUES (?)', one);
  }

  /** Each device takes part in a batch once, however often that is written. */
  async countBatch(task: TaskId, ctx: Ctx, users: readonly UserId[]): Promise<void> {
    const insert = 'INSERT INTO participations (task, user, ctx) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
    for (const user of users) await this.#session.query(insert, task, user, ctx);
  }

  /** With those in the task that this one succeeds: the most that any of its authorities tells. */
  async batchesOf(task: TaskId, user: UserId): Promise<number> {
    const count = `SELECT (SELECT count(*) FROM participations WHERE task = ? AND user = ?)
      + (SELECT coalesce(max(participations), 0) FROM imported WHERE task = ? AND user = ?) AS n`;
    const [row] = await this.#session.query(count, task, user, task, user);
    return row === undefined ? 0 : column.number(row, 'n');
  }

  /** Added again, a token gets its new end; a used one stays used. */
  async addToken(hash: Uint8Array, task: TaskId, endsAt: number): Promise<void> {
    const insert = `INSERT INTO tokens (task, hash, ends_at) VALUES (?, ?, ?)
      ON CONFLICT (task, hash) DO UPDATE SET ends_at = excluded.ends_at`;
    await this.#session.query(insert, task, hash, endsAt);
  }

  /** Returns true if the token was valid; it is used up now. */
  async useToken(hash: Uint8Array, task: TaskId, user: UserId, now: number): Promise<boolean> {
    const good = 'FROM tokens WHERE hash = ? AND task = ? AND ends_at > ? AND used_by IS NULL';
    const found = await this.#session.query(`SELECT hash ${good}`, hash, task, now);
    if (found.length === 0) return false;
    await this.#session.query('UPDATE tokens SET used_by = ? WHERE task = ? AND hash = ?', user, task, hash);
    return true;
  }

  async forgetTokens(endedBefore: number): Promise<void> {
    await this.#session.query('DELETE FROM tokens WHERE ends_at <= ?', endedBefore);
  }

  async allow(task: TaskId, deviceKey: Uint8Array): Promise<void> {
    await this.#session.query(
      'INSERT INTO allowed (task, device_key) VALUES (?, ?) ON CONFLICT DO NOTHING',
      task,
      deviceKey,
    );
  }

  async isAllowed(task: TaskId, deviceKey: Uint8Array): Promise<boolean> {
    const select = 'SELECT task FROM allowed WHERE task = ? AND device_key = ?';
    return (await this.#session.query(select, task, deviceKey)).length > 0;
  }

  async countAllowed(task: TaskId): Promise<number> {
    const [row] = await this.#session.query('SELECT count(*) AS n FROM allowed WHERE task = ?', task);
    return row === undefined ? 0 : column.number(row, 'n');
  }
}

const IMPORTED = `SELECT count(*) AS told, sum(i.revoked) AS revoked, max(p.needed) AS needed
  FROM imported i JOIN predecessors p ON p.task = i.task`;

function readImported(row: Row): Devices.ImportedDevice {
  const [told, revoked, needed] = (['told', 'revoked', 'needed'] as const).map((name) => column.number(row, name));
  return Devices.importedDevice(needed as number, { told: told as number, revoked: revoked as number });
}

function readVault(row: Row): StoredVault {
  return {
    parameters: {
      kind: column.text(row, 'kind') as VaultParameters['kind'],
      salt: column.bytes(row, 'salt'),
      cost: column.number(row, 'cost'),
      blockSize: column.number(row, 'block_size'),
      parallel: column.number(row, 'parallel'),
    },
    signingKey: column.bytes(row, 'signing_key'),
  };
}
