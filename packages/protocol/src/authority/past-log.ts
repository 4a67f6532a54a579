/** The hashes of an authority's log at earlier positions: a head that was shown before is checked against them. */
import { type AuthorityRecord, EMPTY_LOG_HASH } from './records.ts';

/** The log, at least up to the last confirmed record. */
export interface PastLog {
  /** Called with every record as it becomes true; a log on disk has it by then. */
  add?(entry: AuthorityRecord, hash: Uint8Array): void;
  /** The hash of the log after this many records. */
  hashAt(sequence: number): Uint8Array | undefined;
}

/** The default log of an authority: it grows with every record. */
export class LogInMemory implements PastLog {
  readonly #hashes: Uint8Array[] = [EMPTY_LOG_HASH];

  add(_entry: AuthorityRecord, hash: Uint8Array): void {
    this.#hashes.push(hash);
  }

  hashAt(sequence: number): Uint8Array | undefined {
    return this.#hashes[sequence];
  }
}

/** A log with records after its end that are not in it yet. */
export class DraftLog implements PastLog {
  readonly #log: PastLog;
  readonly #end: number;
  readonly #drafted: LogInMemory;

  /** `end`: the number of records in the log. */
  constructor(log: PastLog, end: number) {
    this.#log = log;
    this.#end = end;
    this.#drafted = new LogInMemory();
  }

  add(entry: AuthorityRecord, hash: Uint8Array): void {
    this.#drafted.add(entry, hash);
  }

  hashAt(sequence: number): Uint8Array | undefined {
    return sequence > this.#end ? this.#drafted.hashAt(sequence - this.#end) : this.#log.hashAt(sequence);
  }
}
