/** The guides as a reader follows them: files are saved under the names that the text gives, and every command is typed. */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { folderOfPrograms, pagePaths, readPage, snippetsOf } from '@basa/testkit/pages/snippets.ts';
import type { Running } from '@basa/testkit/processes/start.ts';
import { start } from '@basa/testkit/programs/basa-process.ts';
import { exportsOf, withNames } from '@basa/testkit/programs/typed.ts';
import { FROM_SOURCE, ROOT } from '@basa/testkit/root.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const MAIN = join(ROOT, 'packages/cli/src/main.ts');
const FILES = /[Ss]ave (?:it|this) as `([\w.-]+)`/g;
const guides = pagePaths().filter((path) => snippetsOf(readPage(path), 'sh').some(({ needs }) => needs[0] === 'guide'));

const folder = folderOfPrograms();
let dev: Running;
let services: Record<string, string>;
beforeAll(async () => {
  const ports = ['--server-port', '0', '--authority-port', '0'];
  dev = start(['dev', '--folder', join(folder, 'dev'), '--devices', '0', ...ports]);
  services = exportsOf(await dev.said('Ctrl-C stops everything'));
});
afterAll(async () => {
  dev.child.kill('SIGINT');
  await dev.ended;
  rmSync(folder, { recursive: true });
});

it('there are guides for a regression, a text classifier and an adapter', () => {
  expect(guides).toEqual(
    expect.arrayContaining(['docs/guides/adapters.md', 'docs/guides/regression.md', 'docs/guides/text-classifier.md']),
  );
});

it.each(guides)('%s works as it is written there', async (path) => {
  const page = readPage(path);
  const place = folderOfPrograms();
  try {
    for (const [n, { code }] of filesOf(page).entries()) writeFileSync(join(place, namesIn(page)[n] ?? ''), code);
    const said: string[] = [];
    for (const { code } of snippetsOf(page, 'sh').filter(({ needs }) => needs[0] === 'guide'))
      for (const line of code.trim().split('\n')) said.push(await typed(withNames(line, said), place));
    const all = said.join('\n');
    expect(all).toMatch(/version 20 of 20|version 30 of 30/);
    expect(all.match(/1 accepted, 0 rejected/g)).toHaveLength(3);
    expect(bestScore(all)).toBeGreaterThan(0.7);
    if (!path.includes('regression')) return;
    expect(all).toMatch(/^R2 +\S/m);
    expect(readFileSync(join(place, 'curve.csv'), 'utf8')).toMatch(/^version,at,r2,loss,/);
  } finally {
    rmSync(place, { recursive: true });
  }
});

/** In the order of the page. */
function filesOf(page: string) {
  const files = ['js', 'ts'].flatMap((language) =>
    snippetsOf(page, language).filter(({ needs }) => needs[0] === 'file'),
  );
  return files.sort((a, b) => a.line - b.line);
}

function namesIn(page: string): readonly string[] {
  return [...page.matchAll(FILES)].map(([, name = '']) => name);
}

async function typed(line: string, cwd: string): Promise<string> {
  const [, basa] = /^npm run basa -- (.*)$/.exec(line) ?? [];
  const words = basa === undefined ? line.replace(/^node /, '').split(' ') : [...FROM_SOURCE, MAIN, ...basa.split(' ')];
  const env = { ...process.env, ...services };
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd, env });
  return stdout;
}

/** Of the last version that the simulation tells: a share, or a percentage. */
function bestScore(said: string): number {
  const [, value = '', percent] = [...said.matchAll(/(?:accuracy|r2) (-?[\d.]+)( %)? after/g)].at(-1) ?? [];
  return Number(value) / (percent === undefined ? 1 : 100);
}
