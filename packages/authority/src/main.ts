/** The authority as a process: `node main.js authority.json`. `runAuthority` resolves with its exit code. */
import { runIfProgram, runService } from '@basa/service';
import { type AuthorityPlaces, readAuthorityConfig } from './process/config.ts';
import { createAuthority } from './process/create-authority.ts';

export function runAuthority(places: AuthorityPlaces): Promise<number> {
  return runService({ name: 'authority', start: async () => createAuthority(readAuthorityConfig(places)) });
}

await runIfProgram(import.meta.url, runAuthority);
