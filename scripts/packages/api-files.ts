/** docs/api: one report for each package that applications build on, written by `npm run write -- api` and held current by `npm run gate -- packages`. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiReport } from './api-report.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'docs/api');

/** A changed report of one of these is a changed interface; the others are parts of the services and tools. */
const REPORTED = ['abe', 'client', 'masking', 'protocol'];

/** Text by file; the packages must have been built. */
function reports(): ReadonlyMap<string, string> {
  return new Map(REPORTED.map((name) => [`${name}.md`, apiReport(join(root, 'packages', name))]));
}

export function writeReports(): readonly string[] {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const all = reports();
  for (const [file, text] of all) writeFileSync(join(folder, file), text);
  return [...all.keys()];
}

/** Reports in git that no longer say what the declarations say, as sentences. */
export function staleReports(): readonly string[] {
  return [...reports()]
    .filter(([file, text]) => !existsSync(join(folder, file)) || readFileSync(join(folder, file), 'utf8') !== text)
    .map(([file]) => `docs/api/${file} is not what the package exports; see what changed with: npm run write -- api`);
}
