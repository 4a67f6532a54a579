/** The aggregation server of BASA. */
export { backupServer, restoreServer } from './backup.ts';
export type { ConfigPlaces } from './config.ts';
export { checkServerConfig, readServerConfig, SERVER_PREFIX, serverConfigSchema } from './config.ts';
export { examineServer } from './examine.ts';
export { runServer } from './main.ts';
export { migrateServer } from './migrate.ts';
export type { SharedDatabase } from './open-store.ts';
export type { RunningServer, ServerOptions } from './server.ts';
export { startServer } from './server.ts';
