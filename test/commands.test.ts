/** Every command that package.json or a page names can be started: what it names exists, and programs answer `--help`. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { pagePaths, ROOT, readPage } from './support/snippets.ts';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/** Paths of programs in a text: a word that begins with one of our folders and ends as a program does. */
const programsIn = (text: string): readonly string[] =>
  [...text.matchAll(/\b(?:bench|examples|packages|scripts|test|vectors)\/[\w./-]+\.(?:ts|mts|mjs|py)\b/g)].map(
    ([path]) => path,
  );
const missing = (paths: readonly string[]): readonly string[] => paths.filter((path) => !existsSync(join(ROOT, path)));

it.each(Object.entries(scripts))('npm run %s names programs, tools and scripts that exist', (_, line) => {
  expect(missing(programsIn(line))).toEqual([]);
  for (const step of line.split(' && ')) {
    const [tool = '', ...words] = step.split(' ');
    if (tool === 'npm') expect(scripts).toHaveProperty([words.filter((word) => !word.startsWith('--'))[1] ?? '']);
    else if (!['node', 'python3'].includes(tool)) expect(missing([`node_modules/.bin/${tool}`])).toEqual([]);
  }
});

it('every program that another program starts or names exists', () => {
  const folders = ['bench', 'scripts', 'test', 'packages'];
  const files = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|mts|mjs)$/.test(name) && !/(^|\/)(node_modules|dist)\//.test(name))
      .map((name) => `${folder}/${name}`),
  );
  expect(files.length).toBeGreaterThan(500);
  const named = files.flatMap((file) => {
    const quoted = readFileSync(join(ROOT, file), 'utf8').matchAll(/(['"`])((?:bench|scripts|packages)\/[^'"`\n]*)\1/g);
    return missing(programsIn([...quoted].map(([, , text]) => text).join('\n'))).map((path) => `${file}: ${path}`);
  });
  expect(named).toEqual([]);
});

it.each(pagePaths().filter((path) => !path.startsWith('docs/api/')))(
  '%s names scripts and programs that exist',
  (page) => {
    const text = readPage(page);
    const asked = [...text.matchAll(/\bnpm run (?:--silent )?([a-z][\w:]*)/g)].map(([, script = '']) => script);
    expect(asked.filter((script) => !(script in scripts))).toEqual([]);
    const started = [...text.matchAll(/\b(?:tsx|node|python3)(?: --\S+)* (\S+\.(?:ts|mjs|py))/g)].map(
      ([, path = '']) => path,
    );
    expect(missing(programsIn(started.join('\n')))).toEqual([]);
  },
);

/** Programs that answer `--help` without doing anything; vitest, tsc and others answer for themselves. */
const own = Object.entries(scripts).filter(([, line]) => /^tsx /.test(line));
const isSlow = 120_000;

it.each(own)('npm run %s -- --help says what it does', { timeout: isSlow }, async (_, line) => {
  const [, ...words] = line.split(' ');
  const run = promisify(execFile)(process.execPath, ['--import', 'tsx', ...words, '--help'], { cwd: ROOT });
  const { stdout, stderr } = await run;
  expect(stdout).toMatch(/\w+ \w+/);
  expect(stderr).toBe('');
});
