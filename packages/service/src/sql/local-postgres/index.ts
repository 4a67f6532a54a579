/** A PostgreSQL for development and tests, started from installed programs. */
export { type LocalPostgres, type LocalPostgresOptions, startLocalPostgres } from './local-postgres.ts';
