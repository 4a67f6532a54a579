/** A PostgreSQL for development and tests, started from programs that are at hand. */
export type { LocalPostgres, LocalPostgresOptions } from './local-postgres.ts';
export { startLocalPostgres } from './local-postgres.ts';
