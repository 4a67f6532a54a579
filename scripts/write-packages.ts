/**
 * `npm run packages [-- <folder>]`: builds every package and writes the tarballs that are published (`tarballs` by default). Those that
 * a device needs lie in the folder `client` below it, once more.
 */
import '@basa/testkit/programs/help.ts';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

// Loaded after the help, which would take seconds otherwise.
await import('./build.ts');
const { lintTarball } = await import('./packages/lint.ts');
const { closureOf, packPackages, repositoryAddress } = await import('./packages/pack.ts');

const folder = resolve(process.argv[2] ?? 'tarballs');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
export const tarballs = packPackages(folder);
const wrong = (await Promise.all(tarballs.map(lintTarball))).flat();
if (wrong.length > 0) throw new Error(wrong.join('\n'));
for (const { file, bytes } of tarballs) console.log(`${(bytes / 1000).toFixed(1).padStart(8)} kB  ${file}`);
mkdirSync(join(folder, 'client'));
for (const { file } of closureOf('@basa/client', tarballs)) copyFileSync(file, join(folder, 'client', basename(file)));
console.log(`
In a project of your own, for a device:   npm install ${join(folder, 'client')}/*.tgz
for the command basa and both services:   npm install ${folder}/*.tgz`);
if (repositoryAddress() === undefined)
  console.log(
    'This clone has no remote "origin" with an https or ssh address: the packages name no repository, and npm refuses to vouch for their provenance. Before a release: git remote set-url origin <address>',
  );
