/** The check of sizes fails when a room grows. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { lowered, outgrown, sizesIn } from '@basa/lab/commands/sizes.ts';
import { afterAll, describe, expect, it } from 'vitest';

const root = mkdtempSync(join(tmpdir(), 'basa-sizes-'));
afterAll(() => rmSync(root, { recursive: true }));

/** Sizes of a repository with these files beside those of the calls before. */
function sizesWith(files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  execFileSync('git', ['init', '--quiet'], { cwd: root });
  execFileSync('git', ['add', '.'], { cwd: root });
  return sizesIn(root);
}

describe('sizes', () => {
  const before = sizesWith({
    'packages/abe/src/a.css': 'one\ntwo\n',
    'packages/abe/test/a.css': 'one\n',
    'test/kit/src/k.css': 'one\n',
    'lab/test/l.css': 'one\n',
    'lab/src/l.css': 'one\n',
    'clients/python/c.css': 'one\n',
    'scripts/s.css': 'one\n',
    'scripts/test/s.css': 'one\n',
    'README.md': 'two words\n',
    'docs/page.md': '| three | short words |\n<!-- written by a program -->\nnot\n<!-- end of what is written -->\n',
    [`packages/runtime/src/wasm/some-bytes.${'ts'}`]: 'generated\n',
  });

  it('are counted by room; generated files and marks of tables do not count', () => {
    expect(before).toEqual({
      'lab and conformance': 1,
      'packages/abe': 2,
      python: 1,
      'scripts, deploy and examples': 1,
      tests: 4,
      'words of README': 2,
      'words of pages': 5,
    });
  });

  it('fit the numbers that were written from them', () => {
    expect(outgrown(before, lowered(before, {}))).toEqual([]);
  });

  it.each([
    ['a line more in a package', { 'packages/abe/src/b.css': 'one\n' }, 'packages/abe has grown from 2 to 3'],
    ['a line more in the tests', { 'packages/abe/test/b.css': 'one\n' }, 'tests has grown from 4 to 5'],
    ['a word more in a page', { 'docs/other.md': 'word\n' }, 'words of pages has grown from 5 to 6'],
    ['a package without a number', { 'packages/attic/src/a.css': 'one\n' }, 'packages/attic has no number'],
  ])('are refused with %s', (_, files, problem) => {
    expect(outgrown(sizesWith(files), before).join('\n')).toContain(problem);
  });

  it('lower a number, and raise none', () => {
    expect(lowered({ a: 1, b: 5 }, { a: 3, b: 4, gone: 9 })).toEqual({ a: 1, b: 4 });
  });
});
