/** The aggregation server of BASA. */

export { runServer } from './main.ts';
export { backupServer, restoreServer } from './process/backup.ts';
export { checkServerConfig, readServerConfig, SERVER_PREFIX, serverConfigSchema } from './process/config.ts';
export { createServerTables } from './process/create-tables.ts';
export { examineServer } from './process/examine.ts';
export { type RunningServer, startServer } from './process/server.ts';
export type { ServerOptions } from './process/settings.ts';
export type { SharedDatabase } from './store/open-store.ts';
