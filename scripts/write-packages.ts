/** `npm run packages [-- <folder>]`: builds every package and writes the tarballs that are published (`tarballs` by default). */
import '@basa/testkit/programs/help.ts';
import { mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import './build.ts';
import { lintTarball } from './packages/lint.ts';
import { packPackages, repositoryAddress } from './packages/pack.ts';

const folder = resolve(process.argv[2] ?? 'tarballs');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const tarballs = packPackages(folder);
const wrong = (await Promise.all(tarballs.map(lintTarball))).flat();
if (wrong.length > 0) throw new Error(wrong.join('\n'));
for (const { file, bytes } of tarballs) console.log(`${(bytes / 1000).toFixed(1).padStart(8)} kB  ${file}`);
if (repositoryAddress() === undefined)
  console.log(
    'This clone has no remote "origin": the packages name no repository, and npm refuses to vouch for their provenance.',
  );
