/** The aggregation server of BASA. */
export type { RunningServer, ServerOptions } from './server.ts';
export { startServer } from './server.ts';
