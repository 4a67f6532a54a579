/** A PostgreSQL for development and tests, started from installed programs. */
export type { LocalPostgres, LocalPostgresOptions } from './local-postgres.ts';
export { startLocalPostgres } from './local-postgres.ts';
