/** An empty project that installs the tarballs as anybody would, and what is compiled and run there. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { snippetsOf } from '@basa/testkit/pages/snippets.ts';
import { install } from './installed.ts';
import type { Tarball } from './pack.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tsc = join(root, 'node_modules/.bin/tsc');
const STRICT = ['--strict', '--target', 'ES2022', '--module', 'NodeNext', '--lib', 'ES2022,DOM'];

/** Installs into `project` and compiles. No source condition here: the published declarations must be complete. */
export function setUpConsumer(project: string, tarballs: readonly Tarball[]): void {
  install(project, tarballs);
  copyFileSync(fileURLToPath(new URL('consumer-services.mjs', import.meta.url)), join(project, 'services.mjs'));
  copyFileSync(fileURLToPath(new URL('consumer-program.ts', import.meta.url)), join(project, 'program.ts'));
  execFileSync(tsc, ['program.ts', ...STRICT, '--types', ''], { cwd: project, stdio: 'inherit' });
  const [sdk] = snippetsOf(readFileSync(join(root, 'README.md'), 'utf8'));
  if (sdk === undefined) throw new Error('README.md shows no program');
  writeFileSync(join(project, 'readme.ts'), sdk.code);
  // Of Node the snippet uses only `process`; its types come from here, not from the project.
  const typesOfNode = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
  execFileSync(tsc, ['readme.ts', ...STRICT, ...typesOfNode], { cwd: project, stdio: 'inherit' });
}

/** Runs everything with this Node, and gives what the program of the README printed. */
export function runConsumer(project: string, node: string): string {
  execFileSync(node, ['program.js'], { cwd: project, stdio: 'inherit' });
  execFileSync(node, ['node_modules/@basa/cli/dist/main.js', '--help'], { cwd: project, stdio: 'ignore' });
  return execFileSync(node, ['services.mjs'], { cwd: project, encoding: 'utf8' });
}
