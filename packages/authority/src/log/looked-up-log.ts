/**
 * The core's queries to its log, answered from the database. The core does not wait: if it asks for something that is
 * not in memory, its step is given up, the record is looked up, and the step is computed again.
 */
import { toHex } from '@basa/masking';
import { type AuthorityRecord, decodeAuthorityRecord, EMPTY_LOG_HASH, type PastLog } from '@basa/protocol';
import type { AuthorityTables } from '../store/tables.ts';

/** Heads that are shown back are rarely older. */
const RECENT = 1024;

/** The core asks for something that must be looked up first. */
export class NotLookedUp extends Error {
  readonly lookUp: (tables: AuthorityTables) => Promise<void>;

  constructor(lookUp: (tables: AuthorityTables) => Promise<void>) {
    super('asked for outside of a transaction');
    this.name = 'NotLookedUp';
    this.lookUp = lookUp;
  }
}

interface FoundRecord {
  readonly sequence: number;
  readonly entry: AuthorityRecord;
}

export class LookedUpLog implements PastLog {
  /** The hashes of the empty log and of the last records, by their numbers. */
  readonly #recent = new Map<number, Uint8Array>([[0, EMPTY_LOG_HASH]]);
  #length = 0;
  readonly #hashes = new Map<number, Uint8Array | undefined>();
  readonly #named = new Map<string, readonly FoundRecord[]>();

  add(_: AuthorityRecord, hash: Uint8Array): void {
    this.#recent.set(++this.#length, hash);
    if (this.#length > RECENT) this.#recent.delete(this.#length - RECENT);
  }

  recentHash(sequence: number): Uint8Array | undefined {
    return this.#recent.get(sequence);
  }

  hashAt(sequence: number): Uint8Array | undefined {
    const recent = this.#recent.get(sequence);
    if (recent !== undefined || this.#hashes.has(sequence)) return recent ?? this.#hashes.get(sequence);
    throw new NotLookedUp(async (tables) => {
      this.#hashes.set(sequence, await tables.hashAt(sequence));
    });
  }

  named(name: Uint8Array, after = 0): readonly AuthorityRecord[] {
    const found = this.#named.get(toHex(name));
    if (found !== undefined) return found.filter(({ sequence }) => sequence > after).map(({ entry }) => entry);
    throw new NotLookedUp((tables) => this.#lookUp(tables, [name]));
  }

  /** Computes with the records that this transaction sees. Names that are known to be needed are looked up together first. */
  async computed<Result>(
    tables: AuthorityTables,
    compute: () => Result,
    names: readonly Uint8Array[] = [],
  ): Promise<Result> {
    this.#named.clear();
    this.#hashes.clear();
    await this.#lookUp(tables, names);
    for (;;) {
      try {
        return compute();
      } catch (error) {
        if (!(error instanceof NotLookedUp)) throw error;
        await error.lookUp(tables);
      }
    }
  }

  /** A record that many names share, such as a batch with its uploads, is read once. */
  async #lookUp(tables: AuthorityTables, names: readonly Uint8Array[]): Promise<void> {
    const found = await tables.sequencesNamed(names);
    const stored = await tables.recordsAt([...new Set(found.map(({ sequence }) => sequence))]);
    const records = new Map(stored.map(({ sequence, bytes }) => [sequence, decodeAuthorityRecord(bytes)]));
    const named = new Map(names.map((name): [string, FoundRecord[]] => [toHex(name), []]));
    for (const { name, sequence } of found) {
      const entry = records.get(sequence);
      if (entry !== undefined) named.get(toHex(name))?.push({ sequence, entry });
    }
    for (const [name, entries] of named) this.#named.set(name, entries);
  }
}
