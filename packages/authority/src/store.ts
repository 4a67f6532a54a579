/** The authority's data folder: the log, sealed keys, enrolment tokens and the allow-list. No secret is in it in the clear. */
import type { TaskId, UserId } from '@basa/protocol';
import type { Database, OpenDatabase } from '@basa/service';
import { openDatabase, transaction } from '@basa/service';
import type { VaultParameters } from './vault.ts';

const MIGRATIONS = [
  `CREATE TABLE vault (
     id INTEGER PRIMARY KEY CHECK (id = 1), kind TEXT NOT NULL, salt BLOB NOT NULL,
     cost INTEGER NOT NULL, block_size INTEGER NOT NULL, parallel INTEGER NOT NULL, signing_key BLOB NOT NULL);
   CREATE TABLE records (sequence INTEGER PRIMARY KEY, bytes BLOB NOT NULL, hash BLOB NOT NULL);
   CREATE TABLE epochs (
     task BLOB NOT NULL, epoch INTEGER NOT NULL, engine INTEGER NOT NULL, public_key BLOB NOT NULL, sealed BLOB NOT NULL,
     PRIMARY KEY (task, epoch));
   CREATE TABLE tokens (hash BLOB PRIMARY KEY, task BLOB NOT NULL, ends_at INTEGER NOT NULL, used_by BLOB);
   CREATE TABLE allowed (task BLOB NOT NULL, device_key BLOB NOT NULL, PRIMARY KEY (task, device_key));`,
  `CREATE TABLE names (
     name BLOB NOT NULL, sequence INTEGER NOT NULL REFERENCES records, PRIMARY KEY (name, sequence)) WITHOUT ROWID;`,
];

export interface StoredVault {
  readonly parameters: VaultParameters;
  readonly signingKey: Uint8Array;
}

/** A record and the hash of the log up to it. */
export interface StoredRecord {
  readonly bytes: Uint8Array;
  readonly hash: Uint8Array;
}

export interface StoredEpoch {
  readonly task: TaskId;
  readonly epoch: number;
  readonly engine: number;
  readonly publicKey: Uint8Array;
  readonly sealed: Uint8Array;
}

type Statement = ReturnType<Database['prepare']>;

export class AuthorityStore {
  readonly #open: OpenDatabase;
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(folder: string) {
    this.#open = openDatabase(folder, { application: 'authority', migrations: MIGRATIONS });
    this.#db = this.#open.db;
  }

  /** All of `work` or nothing of it, and durable when this returns. */
  atomically<Result>(work: () => Result): Result {
    return transaction(this.#db, work);
  }

  vault(): StoredVault | undefined {
    const row = this.#prepared('SELECT * FROM vault').get();
    if (row === undefined) return undefined;
    const { kind, salt, cost, block_size: blockSize, parallel, signing_key: signingKey } = row;
    return { parameters: { kind, salt, cost, blockSize, parallel }, signingKey };
  }

  createVault({ parameters, signingKey }: StoredVault): void {
    const { kind, salt, cost, blockSize, parallel } = parameters;
    this.#run('INSERT INTO vault VALUES (1, ?, ?, ?, ?, ?, ?)', kind, salt, cost, blockSize, parallel, signingKey);
  }

  append(sequence: number, { bytes, hash }: StoredRecord): void {
    this.#run('INSERT INTO records VALUES (?, ?, ?)', sequence, bytes, hash);
  }

  /** The record is found by these names, if it was not before. */
  name(sequence: number, names: readonly Uint8Array[]): void {
    for (const name of names) this.#run('INSERT OR IGNORE INTO names VALUES (?, ?)', name, sequence);
  }

  recordsNamed(name: Uint8Array): readonly Uint8Array[] {
    const select = 'SELECT bytes FROM names JOIN records USING (sequence) WHERE name = ? ORDER BY sequence';
    return (this.#prepared(select).all(name) as Pick<StoredRecord, 'bytes'>[]).map(({ bytes }) => bytes);
  }

  hashAt(sequence: number): Uint8Array | undefined {
    return this.#prepared('SELECT hash FROM records WHERE sequence = ?').get(sequence)?.hash;
  }

  /** Records `from` and after, at most so many. */
  records(from: number, most: number): readonly StoredRecord[] {
    const select = 'SELECT bytes, hash FROM records WHERE sequence >= ? ORDER BY sequence LIMIT ?';
    return this.#prepared(select).all(from, most) as StoredRecord[];
  }

  epochs(): readonly StoredEpoch[] {
    const select = 'SELECT task, epoch, engine, public_key AS publicKey, sealed FROM epochs';
    return this.#prepared(select).all() as StoredEpoch[];
  }

  addEpoch({ task, epoch, engine, publicKey, sealed }: StoredEpoch): void {
    this.#run('INSERT INTO epochs VALUES (?, ?, ?, ?, ?)', task, epoch, engine, publicKey, sealed);
  }

  /** Overwrites the sealed key, deletes it, and empties the write-ahead log that still held it. */
  destroyEpoch(task: TaskId, epoch: number): void {
    this.atomically(() => {
      this.#run('UPDATE epochs SET sealed = zeroblob(length(sealed)) WHERE task = ? AND epoch = ?', task, epoch);
      this.#run('DELETE FROM epochs WHERE task = ? AND epoch = ?', task, epoch);
    });
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  addToken(hash: Uint8Array, task: TaskId, endsAt: number): void {
    this.#run('INSERT INTO tokens VALUES (?, ?, ?, NULL)', hash, task, endsAt);
  }

  /** Whether the token was good; it is used up now. */
  useToken(hash: Uint8Array, task: TaskId, user: UserId, now: number): boolean {
    const update = 'UPDATE tokens SET used_by = ? WHERE hash = ? AND task = ? AND ends_at > ? AND used_by IS NULL';
    return this.#run(update, user, hash, task, now) === 1;
  }

  forgetTokens(endedBefore: number): void {
    this.#run('DELETE FROM tokens WHERE ends_at <= ?', endedBefore);
  }

  allow(task: TaskId, deviceKey: Uint8Array): void {
    this.#run('INSERT OR IGNORE INTO allowed VALUES (?, ?)', task, deviceKey);
  }

  isAllowed(task: TaskId, deviceKey: Uint8Array): boolean {
    const select = 'SELECT 1 FROM allowed WHERE task = ? AND device_key = ?';
    return this.#prepared(select).get(task, deviceKey) !== undefined;
  }

  countAllowed(task: TaskId): number {
    return this.#prepared('SELECT count(*) AS n FROM allowed WHERE task = ?').get(task).n;
  }

  close(): void {
    this.#open.close();
  }

  /** Each statement is compiled once. */
  #prepared(sql: string): Statement {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #run(sql: string, ...values: readonly (string | number | Uint8Array)[]): number {
    return this.#prepared(sql).run(...values).changes;
  }
}
