/** The authority as a process: `node main.js authority.json`. `runAuthority` resolves with its exit code. */
import { type ConfigPlaces, runIfProgram, runService } from '@basa/service';
import { readAuthorityConfig } from './process/config.ts';
import { createAuthority } from './process/create-authority.ts';

export function runAuthority(places: ConfigPlaces): Promise<number> {
  return runService({ name: 'authority', start: async () => createAuthority(readAuthorityConfig(places)) });
}

await runIfProgram(import.meta.url, runAuthority);
