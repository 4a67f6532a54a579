/** The errors of PostgreSQL and of the connection that are temporary, so that the same transaction may be retried. */

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

export function isPassing(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code !== 'string') return typeof message === 'string' && LOST.test(message);
  return PASSING_STATES.has(code) || code.startsWith(CONNECTION_CLASS) || PASSING_SYSTEM_CODES.has(code);
}
