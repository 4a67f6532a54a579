/** `npm run site [-- <folder>]`: writes the documentation as a static site (`site` by default), from the pages of this repository. */
import '@basa/testkit/programs/help.ts';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from '@basa/testkit/root.ts';
import { build } from 'esbuild';
import { buildSite } from './site/build.ts';

const folder = resolve(process.argv[2] ?? join(ROOT, 'site'));
const { texts, files, broken } = buildSite();
if (broken.length > 0) throw new Error(broken.join('\n'));
rmSync(folder, { recursive: true, force: true });
const place = (address: string): string => {
  mkdirSync(dirname(join(folder, address)), { recursive: true });
  return join(folder, address);
};
for (const [address, text] of texts) writeFileSync(place(address), text);
for (const [address, path] of files) copyFileSync(join(ROOT, path), place(address));
copyFileSync(join(ROOT, 'packages/web/site/icon.svg'), place('icon.svg'));
const here = fileURLToPath(new URL('site/browser/', import.meta.url));
await build({
  entryPoints: [join(here, 'site.ts'), join(here, 'style.css')],
  outdir: folder,
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  logLevel: 'error',
});
console.log(`${texts.size - 1} pages in ${folder}`);
