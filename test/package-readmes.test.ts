/** Every TypeScript example of a package's README runs as it stands there. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}node_modules/.cache/readmes-${process.pid}`;
mkdirSync(folder, { recursive: true });
afterAll(() => rmSync(folder, { recursive: true }));

const examples = readdirSync(`${root}packages`).flatMap((name) => {
  const path = `${root}packages/${name}/README.md`;
  if (!existsSync(path)) return [];
  const blocks = readFileSync(path, 'utf8').matchAll(/^```ts\n(.*?)^```$/gms);
  return [...blocks].map(([, code = ''], n) => [`${name}, example ${n + 1}`, code] as const);
});

it.each(examples)('%s', async (title, code) => {
  const file = `${folder}/${title.replaceAll(/\W+/g, '-')}.mts`;
  writeFileSync(file, code);
  const flags = ['--import', 'tsx', '--conditions=@basa/source', file];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: root });
  expect(stdout).not.toBe('');
});
