/** The table "What happens if" of docs/operations.md names tests and drills that exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPage } from '@basa/testkit/pages/snippets.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';

it('each line ends with the name of a test or of a drill', () => {
  const [, section = ''] = readPage('docs/operations.md').split(/^## What happens if$/m);
  const lines = (section.split(/^## /m)[0] ?? '').split('\n').filter((line) => /^\| [A-Z]/.test(line));
  const shown = lines.map((line) => line.split('|').at(-2)?.trim() ?? '');
  expect(shown.length).toBeGreaterThan(12);
  const folders = ['test', 'lab/test', ...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/test`)];
  const tests = folders.flatMap((folder) => filesBelow(join(ROOT, folder)).map((file) => readFileSync(file, 'utf8')));
  const drills = readFileSync(join(ROOT, 'lab/src/drills/main.ts'), 'utf8');
  const exists = (name: string): boolean => {
    const [, drill] = /^drill (\w+)$/.exec(name) ?? [];
    if (drill !== undefined) return drills.includes(`${drill}: `);
    return tests.some((text) => text.includes(`it('${name}'`));
  };
  expect(shown.filter((name) => !exists(name))).toEqual([]);
  expect(exists('a test that nobody wrote')).toBe(false);
  expect(exists('drill nothing')).toBe(false);
});

function filesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => join(folder, name));
}
