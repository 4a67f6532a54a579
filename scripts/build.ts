/** `npm run build`: publishable JavaScript and types of every package, and nothing that no source makes any more. */
import '@basa/testkit/programs/help.ts';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlePages } from '@basa/testkit/browser/bundle-pages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const packages = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name));

for (const folder of packages) deleteStale(folder);
execFileSync(join(root, 'node_modules/.bin/tsc'), ['-b', ...packages], { stdio: 'inherit' });
await bundlePages(join(root, 'packages/web/dist/pages'));
console.log(`built ${packages.length} packages`);

/** Only files without a source: to compile all packages again takes a minute of processor time. */
function deleteStale(folder: string): void {
  const built = join(folder, 'dist');
  if (!existsSync(built)) return;
  for (const path of readdirSync(built, { recursive: true, encoding: 'utf8' })) {
    if (path === '.tsbuildinfo' || existsSync(join(folder, 'src', path.replace(/(\.d)?\.[jt]s$/, '.ts')))) continue;
    rmSync(join(built, path), { recursive: true, force: true });
  }
}
