/** The log in memory: the core and the directory that its records make, as far as they were read. */
import { DecodeError, equalBytes } from '@basa/masking';
import {
  AttributeAuthority,
  type AuthorityPorts,
  type AuthorityRecord,
  type AuthorityStep,
  decodeAuthorityRecord,
  EMPTY_LOG_HASH,
  encodeAuthorityRecord,
  type Head,
  nextLogHash,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { StartError } from '@basa/service';
import type { AuthorityTables, LogEnd, StoredRecord } from '../store/tables.ts';
import { Directory } from './directory.ts';
import { LookedUpLog } from './looked-up-log.ts';

const PAGE = 1000;

export class LogView {
  readonly core: AttributeAuthority;
  readonly directory: Directory = new Directory();
  readonly #past = new LookedUpLog();
  #sequence = 0;
  #hash: Uint8Array = EMPTY_LOG_HASH;

  constructor(ports: AuthorityPorts) {
    this.core = new AttributeAuthority(ports, this.#past);
  }

  get sequence(): number {
    return this.#sequence;
  }

  /** Reads on up to the end, and checks the hash chain. */
  async follow(tables: AuthorityTables, end: LogEnd): Promise<void> {
    while (this.#sequence < end.sequence) {
      const page = await tables.records(this.#sequence + 1, Math.min(PAGE, end.sequence - this.#sequence));
      if (page.length === 0) throw damaged(this.#sequence + 1, 'it is missing');
      for (const stored of page) this.#takeIn(stored);
    }
    if (!equalBytes(this.#hash, end.hash)) throw damaged(end.sequence, 'its hash is another');
  }

  /** Computes a step or an answer with the records that this transaction sees. */
  compute<Result>(tables: AuthorityTables, compute: () => Result, names?: readonly Uint8Array[]): Promise<Result> {
    return this.#past.computed(tables, compute, names);
  }

  /** Writes the records of a step, which is not true yet; returns the end of the log with them. */
  async append(tables: AuthorityTables, records: readonly AuthorityRecord[]): Promise<LogEnd> {
    let [sequence, hash] = [this.#sequence, this.#hash];
    for (const entry of records) {
      sequence++;
      hash = nextLogHash(nodeSuite, hash, entry);
      await tables.append(sequence, { bytes: encodeAuthorityRecord(entry), hash });
    }
    return { sequence, hash };
  }

  /** They are durable, in this order. */
  apply(steps: readonly Pick<AuthorityStep<unknown>, 'records' | 'decidedAt'>[], end: LogEnd): void {
    for (const { records, decidedAt } of steps) {
      this.core.apply(records, decidedAt);
      for (const entry of records) this.directory.add(entry);
    }
    this.#sequence = end.sequence;
    this.#hash = end.hash;
  }

  /** True if the head is one of this branch that is still in memory; the others are compared with the database. */
  isRecent(seen: Head, branch: Uint8Array): boolean {
    const hash = this.#past.recentHash(seen.sequence);
    return hash !== undefined && equalBytes(hash, seen.hash) && equalBytes(branch, seen.branch);
  }

  #takeIn(stored: StoredRecord): void {
    const entry = decoded(stored.bytes, this.#sequence + 1);
    const hash = nextLogHash(nodeSuite, this.#hash, entry);
    if (!equalBytes(hash, stored.hash)) throw damaged(this.#sequence + 1, 'its hash is another');
    this.core.apply([entry]);
    this.directory.add(entry);
    this.#sequence++;
    this.#hash = hash;
  }
}

function decoded(bytes: Uint8Array, sequence: number): AuthorityRecord {
  try {
    return decodeAuthorityRecord(bytes);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw damaged(sequence, error.message);
  }
}

function damaged(sequence: number, what: string): StartError {
  const sentence = `record ${sequence} of the log is damaged (${what})`;
  return new StartError('dataFolder', `${sentence}, and nothing was changed; restore the newest backup`);
}
