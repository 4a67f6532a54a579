/**
 * Makes commits of SQLite durable without blocking the main thread. SQLite appends a commit to its write-ahead log and, with `synchronous =
 * NORMAL`, does not wait for the disk. The log is then flushed here, once for all waiting commits. After a power cut, SQLite reads the log
 * up to the first damaged frame, so a flushed commit is never restored without the commits before it.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { groupFlush } from '../process/group-flush.ts';

export class WalFlush {
  readonly #path: string;
  #file: FileHandle | undefined;
  #written = 0;
  #flushed = 0;
  #failure: { readonly error: unknown } | undefined;
  readonly #flush = groupFlush(() => this.#flushOnce());

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
