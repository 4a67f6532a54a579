/** The authority as a process: `node main.js authority.json`. `runAuthority` resolves with its exit code. */
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runService } from '@basa/service';
import { type AuthorityPlaces, readAuthorityConfig } from './process/config.ts';
import { createAuthority } from './process/create-authority.ts';

export function runAuthority(places: AuthorityPlaces): Promise<number> {
  return runService({ name: 'authority', start: async () => createAuthority(readAuthorityConfig(places)) });
}

const [, entry, file] = process.argv;
if (entry !== undefined && realpathSync(entry) === fileURLToPath(import.meta.url)) {
  process.exitCode = await runAuthority({ file, environment: process.env });
}
