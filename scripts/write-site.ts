/**
 * `npm run site [-- <folder>]`: writes the documentation as a static site (`site` by default): the pages of this repository, those
 * that are generated from its code, and the web pages Play and Sees.
 */
import '@basa/testkit/programs/help.ts';
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';

const folder = resolve(process.argv[2] ?? join(ROOT, 'site'));

// Loaded after the help, which would take seconds otherwise.
await import('./write-sizes.ts');
await import('./write-api.ts');
await import('./write-reference.ts');
const { repositoryAddress } = await import('./packages/pack.ts');
const { webAddress } = await import('./packages/published-manifest.ts');
const remote = repositoryAddress();
execFileSync(join(ROOT, 'node_modules/.bin/vitepress'), ['build', 'scripts/site', '--outDir', folder], {
  cwd: ROOT,
  env: { ...process.env, ...(remote !== undefined && { BASA_REPOSITORY: webAddress(remote) }) },
  stdio: 'inherit',
});

// Watch and Join need a server.
const pages = join(ROOT, 'packages/web/dist/pages');
for (const name of readdirSync(pages)) {
  if (!/^(?:index|join)\.html$|^(?:watch|join|device-worker)\.js$/.test(name))
    cpSync(join(pages, name), join(folder, name), { recursive: true });
}
for (const name of ['play.html', 'sees.html']) {
  const text = readFileSync(join(folder, name), 'utf8');
  const offline = text
    .replace('<a href="/">Watch</a>', '<a href="/">Documentation</a>')
    .replace('<li><a href="/join.html">Join</a></li>', '');
  writeFileSync(join(folder, name), offline);
}
console.log(folder);
