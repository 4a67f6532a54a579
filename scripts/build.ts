/** `npm run build`: publishable JavaScript and types of every package, from nothing. */
import '@basa/testkit/programs/help.ts';
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlePages } from '@basa/testkit/browser/bundle-pages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const packages = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name));

for (const folder of packages) rmSync(join(folder, 'dist'), { recursive: true, force: true });
execFileSync(join(root, 'node_modules/.bin/tsc'), ['-b', ...packages], { stdio: 'inherit' });
await bundlePages(join(root, 'packages/web/dist/pages'));
console.log(`built ${packages.length} packages`);
