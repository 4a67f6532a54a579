/** `npm run write -- pages`: the web pages, into the dist folder of @basa/dashboard; left alone where they are up to date. */
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundlePages } from '@basa/testkit/browser/bundle-pages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'packages/dashboard/dist/pages');
const stamp = join(folder, '.stamp');

const builtAt = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const sources = [
  ...readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name, 'src')),
  join(root, 'packages/dashboard/site'),
  join(root, 'tools/testkit/src/browser'),
];
const newest = Math.max(...sources.flatMap(filesBelow).map((path) => statSync(path).mtimeMs));
if (newest > builtAt) {
  console.error('Building the web pages (once) ...');
  await bundlePages(folder);
  writeFileSync(stamp, '');
}

function filesBelow(path: string): string[] {
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
