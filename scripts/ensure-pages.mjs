// Builds the web pages for `npm start` and `npm run basa` where they are older than their sources; plain JavaScript, because
// a start that finds them current should not wait for a compiler.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const builtAt = statSync(join(root, 'packages/web/dist/pages/.stamp'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
const sources = [
  ...readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name, 'src')),
  join(root, 'packages/web/site'),
  join(root, 'test/kit/src/browser'),
];
if (sources.some(isNewer)) {
  console.error('Building the web pages (once) ...');
  await import('./typescript.mjs');
  try {
    await import('./write-pages.ts');
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code)) throw error;
    console.error(
      `The web pages cannot be built, because you are not permitted to write ${error.path ?? root} (${error.code}). Commands work without the pages. To get the pages, run \`npm run basa -- --version\` once as the owner of ${root}, or make your own clone.`,
    );
  }
}

function isNewer(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true }).some(
    (entry) => entry.isFile() && statSync(join(entry.parentPath, entry.name)).mtimeMs > builtAt,
  );
}
