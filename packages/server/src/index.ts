/** The aggregation server of BASA. */
export type { ConfigPlaces } from './config.ts';
export { readServerConfig } from './config.ts';
export { runServer } from './main.ts';
export { migrateServer } from './migrate.ts';
export type { SharedDatabase } from './open-store.ts';
export type { RunningServer, ServerOptions } from './server.ts';
export { startServer } from './server.ts';
