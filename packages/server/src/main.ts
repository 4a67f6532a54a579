/** The server as a process: `node main.js server.json`. `runServer` resolves with its exit code. */
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runService } from '@basa/service';
import { type ConfigPlaces, readServerConfig } from './process/config.ts';
import { startServer } from './process/server.ts';

export function runServer(places: ConfigPlaces): Promise<number> {
  return runService({ name: 'server', start: async () => startServer(readServerConfig(places)) });
}

const [, entry, file] = process.argv;
if (entry !== undefined && realpathSync(entry) === fileURLToPath(import.meta.url)) {
  process.exitCode = await runServer({ file, environment: process.env });
}
