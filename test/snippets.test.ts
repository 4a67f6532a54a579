/** The code on our pages is code: programs compile and run, commands and flags exist, JSON is JSON. */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readAuthorityConfig } from '@basa/authority';
import { COMMANDS } from '@basa/cli/internal/basa.ts';
import { readModelJson } from '@basa/learning';
import { readServerConfig } from '@basa/server';
import { folderOfPrograms, pagePaths, readPage, snippetsOf } from '@basa/testkit/pages/snippets.ts';
import { FROM_SOURCE, ROOT } from '@basa/testkit/root.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const pages = pagePaths();
const shown = (language: string) =>
  pages.flatMap((path) =>
    snippetsOf(readPage(path), language).map((snippet) => ({ ...snippet, place: `${path}:${snippet.line}` })),
  );
const programs = shown('ts');
const folder = folderOfPrograms();
const fileOf = ({ place }: { readonly place: string }): string => join(folder, `${place.replaceAll(/\W+/g, '-')}.mts`);
beforeAll(() => {
  for (const program of programs) writeFileSync(fileOf(program), program.code);
});
afterAll(() => rmSync(folder, { recursive: true }));

it('every program on a page compiles as it is written there', async () => {
  // As in test/tfjs: the declarations of tfjs contradict themselves.
  const compilerOptions = { composite: false, skipLibCheck: true };
  const tools = join(ROOT, 'tsconfig.tools.json');
  const config = { extends: tools, compilerOptions, include: ['*.mts'], exclude: [], references: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const compile = promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder]);
  const { stdout } = await compile.catch((error: { readonly stdout: string }) => error);
  expect(stdout).toBe('');
});

it('every program that needs no service and no browser runs as it is written, and prints something', async () => {
  const own = programs.filter(({ needs }) => needs.length === 0);
  const runner = join(ROOT, 'test/kit/src/pages/run-programs.ts');
  const flags = [...FROM_SOURCE, runner, ...own.map(fileOf)];
  const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: ROOT });
  const said = JSON.parse(stdout) as Record<string, { readonly text: string; readonly error?: string }>;
  for (const program of own) {
    expect(said[fileOf(program)], program.place).toEqual({ text: expect.stringMatching(/./) });
  }
});

it.each(shown('sh').map(({ place, code }) => [place, code] as const))('the commands at %s exist', (_, code) => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const line of code.split('\n')) {
    const [, script] = /\bnpm run (?:--silent )?([\w:]+)/.exec(line) ?? [];
    if (script !== undefined) expect(Object.keys(scripts)).toContain(script);
    const [, words = ''] =
      /(?:^|&& |\| |\$\(|npx |npm run (?:--silent )?)basa(?: --)? (.*)$/.exec(line.replace(/ #.*$/, '')) ?? [];
    const [own = ''] = words.split(' -- '); // the rest is another program
    if (own !== '') checkCommand(own.split(' '));
  }
});

it.each(shown('json').map(({ place, ...snippet }) => [place, snippet] as const))(
  'the JSON at %s is valid, and a valid configuration if it is marked as one',
  (_, { code, needs }) => {
    const overrides = JSON.parse(code.replaceAll(/<[^>]*64 hexadecimal digits>/g, '0'.repeat(64))) as Record<
      string,
      unknown
    >;
    if (needs.includes('server')) expect(readServerConfig({ environment: {}, overrides })).toBeDefined();
    if (needs.includes('network')) expect(readModelJson(overrides).dimension).toBeGreaterThan(0);
    if (needs.includes('authority')) expect(readAuthorityConfig({ environment: {}, overrides })).toBeDefined();
  },
);

function checkCommand(words: readonly string[]): void {
  const command = [2, 1]
    .map((count) => words.slice(0, count).join(' '))
    .flatMap((name) => COMMANDS.filter((candidate) => candidate.name === name))[0];
  expect(command, words.join(' ')).toBeDefined();
  const flags = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2));
  const known = [...Object.keys(command?.flags ?? {}), 'json', 'help'];
  expect(flags.filter((flag) => !known.includes(flag))).toEqual([]);
}
