/** The modules of threads, made of TypeScript ahead of time. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '@basa/testkit/root.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const clone = mkdtempSync(join(tmpdir(), 'basa-thread-'));
const kept = join(clone, 'node_modules/.cache');
const write = (name: string, text: string): void => writeFileSync(join(clone, name), text);
afterAll(() => rmSync(clone, { recursive: true }));
beforeAll(() => {
  for (const folder of ['scripts', 'node_modules']) mkdirSync(join(clone, folder));
  for (const file of ['thread.mjs', 'typescript.mjs', 'typescript-hooks.mjs', 'keep-whole.mjs'])
    copyFileSync(join(ROOT, 'scripts', file), join(clone, 'scripts', file));
  symlinkSync(join(ROOT, 'node_modules/esbuild'), join(clone, 'node_modules/esbuild'));
  write('package-lock.json', '{}');
  write('word.ts', "export const word: string = 'first';");
  write('a-place.ts', 'export const place = import.meta.url;');
  write('entry.ts', "import { word } from './word.ts'; console.log(word, (await import('./a-place.ts')).place);");
});

/** The output of a process that runs the entry as a thread does. */
function said(): string {
  const entry = JSON.stringify(pathToFileURL(join(clone, 'entry.ts')).href);
  const program = `import { runThread } from './scripts/thread.mjs'; await runThread(${entry});`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: clone,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout;
}
const saying = (word: string): string => `${word} ${pathToFileURL(join(clone, 'a-place.ts')).href}\n`;
const files = (): readonly string[] => readdirSync(join(kept, 'basa-threads')).sort();

it('are made once, are made anew when a source changes, and know the places of their sources', () => {
  expect(said()).toBe(saying('first'));
  const made = files();
  expect(said()).toBe(saying('first'));
  expect(files()).toEqual(made);
  write('word.ts', "export const word: string = 'second';");
  expect(said()).toBe(saying('second'));
  expect(files()).not.toEqual(made);
});

it('are read from the sources if a user may not write there', () => {
  rmSync(kept, { recursive: true });
  writeFileSync(kept, 'a file, so that nobody can make folders in it'); // also for root
  expect(said()).toBe(saying('second'));
});
