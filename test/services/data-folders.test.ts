/** Data folders of versions before 1.0: refused with one sentence that says what to do, and not changed. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readServerConfig, startServer } from '@basa/server';
import { basaHere } from '@basa/testkit/programs/basa.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { afterEach, expect, it } from 'vitest';

let folder = '';
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function settings(): readonly string[] {
  const own = { authorityUrl: 'http://127.0.0.1:9', authorityKey: '0'.repeat(64) };
  const common = { dataFolder: join(folder, 'server'), port: '0', logLevel: 'error' };
  return Object.entries({ ...common, ...own }).map(([key, value]) => `${key}=${value}`);
}

/** Of every file, by its path. */
function hashes(): Readonly<Record<string, string>> {
  const path = join(folder, 'server');
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter(
    (name) =>
      statSync(join(path, name)).size > 0 && statSync(join(path, name)).isFile() && !/basa\.lock|-shm$/.test(name),
  );
  const hashOf = (name: string): string =>
    createHash('sha256')
      .update(readFileSync(join(path, name)))
      .digest('hex');
  return Object.fromEntries(files.sort().map((name) => [name, hashOf(name)]));
}

it.each([
  ['server', '--create-tables'],
  ['doctor', 'server'],
])('of 0.3 is refused by `basa %s %s` and at the start, and not changed', async (...words) => {
  folder = mkdtempSync(join(tmpdir(), 'basa-folders-'));
  execFileSync('tar', ['-C', folder, '-xzf', join(ROOT, 'test/fixtures/data-0.3.tar.gz')]);
  const before = hashes();
  const sentence =
    'has format 14: it was written by a version before 1.0, and 1.0 starts afresh: export its model with that version, and create a new task from it';
  const typed = await basaHere([...words, ...settings().flatMap((setting) => ['--set', setting])]);
  expect(typed.out + typed.errors).toContain(sentence);
  const starting = startServer(readServerConfig({ file: undefined, environment: {}, settings: settings() }));
  await expect(starting).rejects.toThrow(sentence);
  expect(hashes()).toEqual(before);
});
