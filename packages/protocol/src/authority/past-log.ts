/**
 * Records that the authority looks up in its own log instead of keeping them in memory: models before the newest one, and earlier hashes. A log on disk finds its records by their names.
 */
import { concatBytes, toHex } from '@basa/masking';
import type { TaskId } from '../wire/brands.ts';
import { type AuthorityRecord, EMPTY_LOG_HASH } from './records.ts';

/** The log, at least up to the last confirmed record. */
export interface PastLog {
  /** Called with every record as it becomes true; a log on disk has it by then. */
  add?(entry: AuthorityRecord, hash: Uint8Array): void;
  /** The hash of the log after this many records. */
  hashAt(sequence: number): Uint8Array | undefined;
  /** The records with this name, oldest first; only those after the first `after` records of the log. */
  named(name: Uint8Array, after?: number): readonly AuthorityRecord[];
}

/** The names of a record: task and version or hash of a model. */
export function recordNames(entry: AuthorityRecord): readonly Uint8Array[] {
  switch (entry.kind) {
    case 'model-appended': {
      const { task, version, modelHash } = entry.entry;
      return [modelName(task, version), modelHashName(task, modelHash)];
    }
    default:
      return [];
  }
}

export function modelName(task: TaskId, version: number): Uint8Array {
  const name = new Uint8Array(task.length + 8);
  name.set(task);
  new DataView(name.buffer).setBigUint64(task.length, BigInt(version), true);
  return name;
}

export function modelHashName(task: TaskId, modelHash: Uint8Array): Uint8Array {
  return concatBytes(task, modelHash);
}

/** The default log of an authority: it grows with every record. */
export class LogInMemory implements PastLog {
  readonly #hashes: Uint8Array[] = [EMPTY_LOG_HASH];
  readonly #named = new Map<string, { readonly records: AuthorityRecord[]; readonly sequences: number[] }>();

  add(entry: AuthorityRecord, hash: Uint8Array): void {
    this.#hashes.push(hash);
    const sequence = this.#hashes.length - 1;
    for (const name of recordNames(entry).map(toHex)) {
      const known = this.#named.get(name);
      if (known === undefined) this.#named.set(name, { records: [entry], sequences: [sequence] });
      else {
        known.records.push(entry);
        known.sequences.push(sequence);
      }
    }
  }

  hashAt(sequence: number): Uint8Array | undefined {
    return this.#hashes[sequence];
  }

  named(name: Uint8Array, after = 0): readonly AuthorityRecord[] {
    const { records = [], sequences = [] } = this.#named.get(toHex(name)) ?? {};
    return after === 0 ? records : records.filter((_, n) => (sequences[n] ?? 0) > after);
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

  named(name: Uint8Array, after = 0): readonly AuthorityRecord[] {
    return [...this.#log.named(name, after), ...this.#drafted.named(name, Math.max(0, after - this.#end))];
  }
}
