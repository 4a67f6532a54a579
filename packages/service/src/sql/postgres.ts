/** PostgreSQL as the database of a service. */

import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { createPostgresTables, databaseTrouble, hasPostgresTables } from './postgres-format.ts';
import {
  type DatabaseOptions,
  type Dialect,
  isWrite,
  type Row,
  type SqlDatabase,
  type SqlSession,
  type SqlValue,
  type SqlWatch,
} from './sql.ts';

// PostgreSQL behind the SQL port, for any number of nodes: READ COMMITTED, rows locked by the statements themselves. A transaction that
// failed for a temporary reason is retried: a lost connection, a fail-over, a deadlock.

export const POSTGRES: Dialect = {
  name: 'postgres',
  blob: 'BYTEA',
  integer: 'BIGINT',
  real: 'DOUBLE PRECISION',
  // Keys never change: rows that refer to this one need not wait.
  forUpdate: ' FOR NO KEY UPDATE',
  unlogged: 'UNLOGGED ',
};

export interface PostgresOptions extends SqlWatch, DatabaseOptions {
  /** postgres://user:password@host/database */
  readonly url: string;
  readonly connections?: number;
  /** The time for which a transaction is retried while the database cannot be reached. */
  readonly patienceMs?: number;
  /** Called once with a notice about the database for the operator. */
  onNotice?(words: string): void;
  /** Called when a connection was lost, or when a transaction is retried. */
  onTrouble?(error: unknown): void;
}

/** The database could not be reached for longer than the patience. */
export class DatabaseUnavailable extends Error {
  constructor(cause: unknown) {
    super('the database cannot be reached', { cause });
    this.name = 'DatabaseUnavailable';
  }
}

const DEFAULTS = { connections: 10, patienceMs: 10_000, onTrouble: (_: unknown): void => {} };
const CONNECT_MS = 5_000;
/**
 * A node that stops in the middle of a transaction must not keep its locks for long. Acknowledged data must be on disk. Times are compared
 * as numbers.
 */
const SESSION = [
  'idle_in_transaction_session_timeout=5000',
  'statement_timeout=60000',
  'lock_timeout=15000',
  'synchronous_commit=on',
  'default_transaction_isolation=read\\ committed',
  'TimeZone=UTC',
];
const NOW = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now';

/** Rejects a database of another service, and one whose tables have a different format from this program's. */
export async function openPostgres(options: PostgresOptions): Promise<SqlDatabase> {
  const { url, application, connections, patienceMs, onTrouble } = { ...DEFAULTS, ...options };
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: `basa-${application}`,
    options: SESSION.map((setting) => `-c ${setting}`).join(' '),
    types: { getTypeParser },
  });
  pool.on('error', onTrouble); // errors of an idle connection
  try {
    if (!(await hasPostgresTables(pool, options))) await createPostgresTables(options.url, options);
    const notice = options.onNotice && (await replicationNotice(pool));
    if (notice !== undefined) options.onNotice?.(notice);
  } catch (error) {
    await pool.end();
    throw databaseTrouble(error);
  }
  const persist = async <Result>(work: Work<Result>, how: 'together' | 'alone'): Promise<Result> => {
    const giveUpAt = Date.now() + patienceMs;
    let next: How = how;
    for (let tries = 0; ; tries++) {
      const outcome = await attempt(pool, work, next, { ...options, onTrouble });
      if (outcome.kind === 'done') return outcome.value;
      if (outcome.kind === 'unreplicated') next = 'logged';
      onTrouble(outcome.error);
      if (Date.now() > giveUpAt) throw new DatabaseUnavailable(outcome.error);
      options.onRetry?.();
      await wait(Math.min(1_000, 10 * 2 ** tries) * (0.5 + Math.random()));
    }
  };
  const ask: SqlDatabase['query'] = (text, ...values) => persist(({ query }) => query(text, ...values), 'alone');
  return {
    dialect: POSTGRES,
    transaction: (work) => persist(work, 'together'),
    query: ask,
    peek: ask,
    now: () => persist(({ now }) => now(), 'alone'),
    close: () => pool.end(),
  };
}

type Work<Result> = (session: SqlSession) => Promise<Result>;

type Outcome<Result> =
  | { readonly kind: 'done'; readonly value: Result }
  | { readonly kind: 'passing'; readonly error: unknown }
  /** It was committed, but no standby has it. */
  | { readonly kind: 'unreplicated'; readonly error: unknown };

/**
 * A COMMIT waits for the standby only if the transaction wrote something. `logged` always does: work that was committed before may find
 * nothing left to write.
 */
type How = 'together' | 'alone' | 'logged';
const LOGGED = "SELECT pg_logical_emit_message(true, 'basa', '')";

/** Tries once. Throws errors of the work itself, and permanent errors of the database. */
async function attempt<Result>(
  pool: pg.Pool,
  work: Work<Result>,
  how: How,
  { onTrouble, onCommit }: SqlWatch & { onTrouble(error: unknown): void },
): Promise<Outcome<Result>> {
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    if (!isPassing(error)) throw error;
    return { kind: 'passing', error };
  }
  let lost: unknown;
  const onError = (error: unknown): void => {
    lost = error;
    onTrouble(error);
  };
  let unreplicated: unknown;
  const onNotice = (notice: { readonly message?: string | undefined }): void => {
    if (isUnreplicated(notice)) unreplicated = new Error(notice.message);
  };
  client.on('notice', onNotice);
  client.on('error', onError); // without a listener, losing the connection while it is idle would end the process
  let trouble: unknown;
  const ask = async (text: string, values: readonly SqlValue[] = []): Promise<readonly Row[]> => {
    try {
      return (await client.query(numbered(text), values.map(toPg))).rows as readonly Row[];
    } catch (error) {
      trouble ??= error;
      throw error;
    }
  };
  let hasWritten = false;
  const session: SqlSession = {
    query: (text, ...values) => {
      hasWritten ||= isWrite(text);
      return ask(text, values);
    },
    now: async () => Number((await ask(NOW))[0]?.['now']),
  };
  try {
    if (how !== 'alone') await ask('BEGIN');
    const value = await work(session);
    const start = performance.now();
    if (how === 'logged') await ask(LOGGED);
    if (how !== 'alone') await ask('COMMIT');
    // The retry waits for the standby again, so nothing is acknowledged that a fail-over may lose.
    if (unreplicated !== undefined) return { kind: 'unreplicated', error: unreplicated };
    if (how !== 'alone' && hasWritten) onCommit?.((performance.now() - start) / 1000);
    return { kind: 'done', value };
  } catch (error) {
    if (how !== 'alone')
      await ask('ROLLBACK').catch((failed: unknown) => {
        lost ??= failed;
      });
    else if (isPassing(trouble)) lost ??= trouble;
    const asked = trouble ?? lost;
    if (asked !== undefined && isPassing(asked)) return { kind: 'passing', error: asked };
    throw error;
  } finally {
    client.off('error', onError);
    client.off('notice', onNotice);
    client.release(lost !== undefined);
  }
}

/** Replaces `?` with `$1`, `$2` and so on; our statements have no other question marks. */
function numbered(text: string): string {
  let count = 0;
  return text.replaceAll('?', () => `$${++count}`);
}

/** The driver takes only a Buffer as bytes; this view shares the memory. */
function toPg(value: SqlValue): SqlValue {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}

/** Parses 64-bit integers as numbers (all of ours are below 2^53), and bytes as plain arrays with their own memory. */
function getTypeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  if (oid === pg.types.builtins.INT8) return Number;
  if (oid === pg.types.builtins.BYTEA) return (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex'));
  return pg.types.getTypeParser(oid, format) as (text: string) => unknown;
}

// The errors of PostgreSQL and of the connection that are temporary, so that the same transaction may be retried.

/** By SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const PASSING_STATES = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '55P03', // lock_not_available
  '25006', // read_only_sql_transaction: connected to a standby, before or after a fail-over
  '25P03', // idle_in_transaction_session_timeout
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now: starting up
]);
const CONNECTION_CLASS = '08';

const PASSING_SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOENT', // the socket file of a database that is starting
]);

/** The driver's own messages have no code. */
const LOST = /connection terminated|connection ended|timeout exceeded when trying to connect|not queryable/i;

function isPassing(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code !== 'string') return typeof message === 'string' && LOST.test(message);
  return PASSING_STATES.has(code) || code.startsWith(CONNECTION_CLASS) || PASSING_SYSTEM_CODES.has(code);
}

// Checks that acknowledged commits of a PostgreSQL survive its loss: an asynchronous standby lacks the last commits.

const STANDBYS = `SELECT current_setting('synchronous_standby_names') AS names,
  (SELECT COUNT(*) FROM pg_stat_replication)::int AS standbys`;

/** Returns a notice for the operator; undefined if there is no standby, or if commits wait for it. */
async function replicationNotice(pool: Pick<pg.Pool, 'query'>): Promise<string | undefined> {
  const { rows } = await pool.query(STANDBYS);
  const [{ names, standbys }] = rows as [{ readonly names: string; readonly standbys: number }];
  if (standbys === 0 || names !== '') return undefined;
  return (
    'the database has a standby but does not wait for it, so a fail-over loses the newest acknowledged data; ' +
    "set synchronous_standby_names = '*' there, or never fail over to it"
  );
}

/** A commit whose wait was cancelled: it is durable only on the primary. */
function isUnreplicated({ message }: { readonly message?: string | undefined }): boolean {
  return message?.includes('wait for synchronous replication') ?? false;
}
