import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

it('the twenty lines of the README run as they are written', async () => {
  const [, snippet = ''] = /```ts\n([\s\S]*?)```/.exec(readFileSync(`${root}README.md`, 'utf8')) ?? [];
  const folder = `${root}node_modules/.cache/basa-readme/`;
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(`${folder}snippet.ts`, snippet);
    const run = ['--import', 'tsx', '--conditions=@basa/source', `${folder}snippet.ts`];
    const { stdout } = await promisify(execFile)(process.execPath, run, { cwd: root });
    const [, ...numbers] =
      /\[([-\d.e]+), ([-\d.e]+), ([-\d.e]+)\]/.exec(
        stdout.replace(/\s+/g, ' ').replace('[ ', '[').replace(' ]', ']'),
      ) ?? [];
    expect(numbers.map(Number).map((value, i) => Math.abs(value - Math.sin(i)) < 1e-3)).toEqual([true, true, true]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
