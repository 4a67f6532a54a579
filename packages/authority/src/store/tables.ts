/** The authority's reads and writes inside one transaction: the log, sealed keys, enrolment tokens and the allow-list. */
import { equalBytes } from '@basa/masking';
import { type Ctx, EMPTY_LOG_HASH, type TaskId, type UserId } from '@basa/protocol';
import { column, type Row, type SqlSession } from '@basa/service';
import { atOnce } from './at-once.ts';
import type { VaultParameters } from './vault.ts';

export interface StoredVault {
  readonly parameters: VaultParameters;
  readonly signingKey: Uint8Array;
}

/** A record and the hash of the log up to it. */
export interface StoredRecord {
  readonly bytes: Uint8Array;
  readonly hash: Uint8Array;
}

/** The length of the log, and its hash. */
export interface LogEnd {
  readonly sequence: number;
  readonly hash: Uint8Array;
}

/** The master key of a task of `paper` mode. */
export interface StoredPaperKey {
  readonly task: TaskId;
  readonly sealed: Uint8Array;
}

/** The number of a record that has this name. */
export interface NamedSequence {
  readonly name: Uint8Array;
  readonly sequence: number;
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

  async end(): Promise<LogEnd> {
    const [row] = await this.#session.query('SELECT sequence, hash FROM records ORDER BY sequence DESC LIMIT 1');
    if (row === undefined) return { sequence: 0, hash: EMPTY_LOG_HASH };
    return { sequence: column.number(row, 'sequence'), hash: column.bytes(row, 'hash') };
  }

  async append(sequence: number, { bytes, hash }: StoredRecord): Promise<void> {
    await this.#session.query('INSERT INTO records (sequence, bytes, hash) VALUES (?, ?, ?)', sequence, bytes, hash);
  }

  /** Makes the record findable by these names, unless it already is. */
  async name(sequence: number, names: readonly Uint8Array[]): Promise<void> {
    for (const some of atOnce(names)) {
      const rows = some.map(() => '(?, ?)').join();
      const values = some.flatMap((name) => [name, sequence]);
      await this.#session.query(`INSERT INTO names (name, sequence) VALUES ${rows} ON CONFLICT DO NOTHING`, ...values);
    }
  }

  /** Returns the records that have one of these names, the oldest first. */
  async sequencesNamed(names: readonly Uint8Array[]): Promise<readonly NamedSequence[]> {
    const found: NamedSequence[] = [];
    for (const some of atOnce(names)) {
      const select = `SELECT name, sequence FROM names WHERE name IN (${some.map(() => '?').join()}) ORDER BY sequence`;
      for (const row of await this.#session.query(select, ...some))
        found.push({ name: column.bytes(row, 'name'), sequence: column.number(row, 'sequence') });
    }
    return found;
  }

  async recordsAt(
    sequences: readonly number[],
  ): Promise<readonly { readonly sequence: number; readonly bytes: Uint8Array }[]> {
    const found: { sequence: number; bytes: Uint8Array }[] = [];
    for (const some of atOnce(sequences)) {
      const select = `SELECT sequence, bytes FROM records WHERE sequence IN (${some.map(() => '?').join()})`;
      for (const row of await this.#session.query(select, ...some))
        found.push({ sequence: column.number(row, 'sequence'), bytes: column.bytes(row, 'bytes') });
    }
    return found;
  }

  async hashAt(sequence: number): Promise<Uint8Array | undefined> {
    const [row] = await this.#session.query('SELECT hash FROM records WHERE sequence = ?', sequence);
    return row === undefined ? undefined : column.bytes(row, 'hash');
  }

  /** Returns the records from `from` on, at most `most`. */
  async records(from: number, most: number): Promise<readonly StoredRecord[]> {
    const select = 'SELECT bytes, hash FROM records WHERE sequence >= ? ORDER BY sequence LIMIT ?';
    const rows = await this.#session.query(select, from, most);
    return rows.map((row) => ({ bytes: column.bytes(row, 'bytes'), hash: column.bytes(row, 'hash') }));
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

  async batchesOf(task: TaskId, user: UserId): Promise<number> {
    const count = 'SELECT count(*) AS n FROM participations WHERE task = ? AND user = ?';
    const [row] = await this.#session.query(count, task, user);
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
