/** The server as a process: `node main.js server.json`. `runServer` resolves with its exit code. */
import { type ConfigPlaces, runIfProgram, runService } from '@basa/service';
import { readServerConfig } from './process/config.ts';
import { startServer } from './process/server.ts';

export function runServer(places: ConfigPlaces): Promise<number> {
  return runService({ name: 'server', start: async () => startServer(readServerConfig(places)) });
}

await runIfProgram(import.meta.url, runServer);
