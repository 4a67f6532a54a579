/** The server as a process: `runServer` resolves with its exit code. */
import { runService } from '@basa/service';
import type { ConfigPlaces } from './config.ts';
import { readServerConfig } from './config.ts';
import { startServer } from './server.ts';

export function runServer(places: ConfigPlaces): Promise<number> {
  return runService({ name: 'server', start: async () => startServer(readServerConfig(places)) });
}
