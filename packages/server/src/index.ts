/** The aggregation server of BASA. */

export { runServer } from './main.ts';
export { backupServer, createServerTables, examineServer, restoreServer } from './process/backup.ts';
export type { ServerOptions } from './process/config.ts';
export { checkServerConfig, readServerConfig, SERVER_PREFIX, serverConfigSchema } from './process/config.ts';
export { type RunningServer, startServer } from './process/server.ts';
export type { SharedDatabase } from './store/open-store.ts';
