/** Commits of SQLite: one for all transactions that come in one turn of the event loop or during a flush, flushed to the disk without blocking the main thread. */

import { type FileHandle, open } from 'node:fs/promises';
import { groupFlush } from '../process/durable-names.ts';
import type { Queue } from '../process/lifecycle.ts';
import type { Database } from './database.ts';

// One commit of SQLite for all transactions in one turn of the event loop, or during the flush that is under way. Each transaction is a
// savepoint, so a failed one is undone separately. A single transaction without a flush before it does not wait for others.

/** Transactions that are committed together. */
interface Turn {
  /** Resolves to the number of the commit. */
  readonly committed: Promise<number>;
  resolve(commit: number): void;
  reject(error: unknown): void;
}

export class SharedCommit {
  readonly #database: Database;
  readonly #wal: WalFlush;
  readonly #queue: Queue;
  #turn: Turn | undefined;
  /** The current work has written, and can be undone separately. */
  #isSaved = false;

  constructor(database: Database, wal: WalFlush, queue: Queue) {
    this.#database = database;
    this.#wal = wal;
    this.#queue = queue;
  }

  /** Before every statement that writes. */
  beforeWrite(): void {
    this.#turn ??= this.#begin();
    if (this.#isSaved) return;
    this.#database.exec('SAVEPOINT work');
    this.#isSaved = true;
  }

  /** Resolves to the number of the commit when everything that the work read and wrote is committed. */
  get committed(): Promise<number> {
    return this.#turn?.committed ?? Promise.resolve(this.#wal.newest);
  }

  /** Does the work or nothing of it. Returns whether it has written. */
  async work(work: () => Promise<void>): Promise<boolean> {
    this.#wal.check();
    try {
      await work();
      if (!this.#isSaved) return false;
      this.#database.exec('RELEASE work');
      return true;
    } catch (error) {
      this.#undo(error);
      throw error;
    } finally {
      this.#isSaved = false;
    }
  }

  /** Runs in the queue and commits everything that is pending. */
  commit(): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#turn = undefined;
    try {
      this.#database.exec('COMMIT');
      turn.resolve(this.#wal.wrote());
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      turn.reject(error);
    }
  }

  #begin(): Turn {
    this.#database.exec('BEGIN IMMEDIATE');
    let [resolve, reject] = [(_: number): void => {}, (_: unknown): void => {}];
    const committed = new Promise<number>((onCommit, onError) => {
      [resolve, reject] = [onCommit, onError];
    });
    committed.catch(() => undefined); // there may be no caller that waits for it
    // What comes during a flush is durable only with the next one: all of it is one commit.
    void this.#wal.idle.then(() => setImmediate(() => void this.#queue(async () => this.commit())));
    return { committed, resolve, reject };
  }

  /** A full disk has undone the others of the turn as well. */
  #undo(error: unknown): void {
    if (this.#turn === undefined) return;
    if (!this.#database.isTransaction) {
      this.#turn.reject(error);
      this.#turn = undefined;
    } else if (this.#isSaved) this.#database.exec('ROLLBACK TO work; RELEASE work');
  }
}

// Makes commits of SQLite durable without blocking the main thread. SQLite appends a commit to its write-ahead log and, with `synchronous =
// NORMAL`, does not wait for the disk. The log is then flushed here, once for all waiting commits. After a power cut, SQLite reads the log
// up to the first damaged frame, so a flushed commit is never restored without the commits before it.

export class WalFlush {
  readonly #path: string;
  #file: FileHandle | undefined;
  #written = 0;
  #flushed = 0;
  #failure: { readonly error: unknown } | undefined;
  #flushing: Promise<void> | undefined;
  readonly #flush = groupFlush(() => {
    this.#flushing = this.#flushOnce().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  });

  /** The path of the database. */
  constructor(database: string) {
    this.#path = `${database}-wal`;
  }

  /** Counts a commit that is in the log. Returns its number. */
  wrote(): number {
    return ++this.#written;
  }

  /** The number of the newest commit that is in the log. */
  get newest(): number {
    return this.#written;
  }

  /** Resolves when no flush is under way. */
  get idle(): Promise<void> {
    return (this.#flushing ?? Promise.resolve()).catch(() => undefined);
  }

  /** After a failed flush the content of the disk is unknown, and a later flush would not reveal it: only a restart reads it. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Resolves when this commit and all before it survive a power cut. */
  async durable(commit: number): Promise<void> {
    while (this.#flushed < commit) await this.#flush();
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  async #flushOnce(): Promise<void> {
    this.check();
    const upTo = this.#written;
    if (upTo === this.#flushed) return;
    try {
      // The log exists from the first commit on, and stays the same file until the database is closed.
      this.#file ??= await open(this.#path, 'r+');
      await this.#file.datasync();
      this.#flushed = upTo;
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }
}
