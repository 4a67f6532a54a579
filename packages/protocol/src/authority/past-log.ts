/**
 * Records that the authority looks up in its own log instead of keeping them in memory: uploads, batches, models before the newest one, and
 * earlier hashes. A log on disk finds its records by their names.
 */
import { concatBytes, type Suite, toHex } from '@basa/masking';
import type { TaskId } from '../wire/brands.ts';
import { batchCtxOf, givenNameOf, usedNameOf } from '../wire/one-shot/batch.ts';
import { epochCodec } from '../wire/one-shot/epoch.ts';
import { type AuthorityRecord, type BatchList, EMPTY_LOG_HASH } from './records.ts';

/** The log, at least up to the last confirmed record. */
export interface PastLog {
  /** Called with every record as it becomes true; a log on disk has it by then. */
  add?(entry: AuthorityRecord, hash: Uint8Array): void;
  /** The hash of the log after this many records. */
  hashAt(sequence: number): Uint8Array | undefined;
  /** The records with this name, oldest first; only those after the first `after` records of the log. */
  named(name: Uint8Array, after?: number): readonly AuthorityRecord[];
}

/** The names of a record: ctx of its batch, task and version or hash of a model, an upload, an epoch. */
export function recordNames(suite: Suite, entry: AuthorityRecord): readonly Uint8Array[] {
  switch (entry.kind) {
    case 'model-appended': {
      const { task, version, modelHash, sums, spoilt } = entry.entry;
      return [modelName(task, version), modelHashName(task, modelHash), ...sums, ...spoilt];
    }
    case 'batch-voted':
      return namesOfList(suite, entry.list);
    case 'batch-final':
      return entry.list === undefined ? [entry.ctx] : namesOfList(suite, entry.list);
    case 'epoch-opened':
      return [epochCodec.statementHash(suite, entry.epoch)];
    case 'epoch-ended':
      return [entry.statement];
    default:
      return [];
  }
}

function namesOfList(suite: Suite, { batch, entry, members }: BatchList): readonly Uint8Array[] {
  return [
    batchCtxOf(suite, batch),
    ...members.map((member) => usedNameOf(suite, batch.task, member)),
    ...members.map(({ user }) => givenNameOf(suite, batch.task, entry, user)),
  ];
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
  readonly #suite: Suite;
  readonly #hashes: Uint8Array[] = [EMPTY_LOG_HASH];
  readonly #named = new Map<string, { readonly records: AuthorityRecord[]; readonly sequences: number[] }>();

  constructor(suite: Suite) {
    this.#suite = suite;
  }

  add(entry: AuthorityRecord, hash: Uint8Array): void {
    this.#hashes.push(hash);
    const sequence = this.#hashes.length - 1;
    for (const name of recordNames(this.#suite, entry).map(toHex)) {
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
  constructor(suite: Suite, log: PastLog, end: number) {
    this.#log = log;
    this.#end = end;
    this.#drafted = new LogInMemory(suite);
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
