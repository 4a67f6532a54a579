/** Nothing stands between a start and its first words: `basa` loads packages when a command runs, not before. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import { expect, it } from 'vitest';

/** The modules that are loaded with a module, types left out. */
function loadedBy(path: string): readonly string[] {
  const { staticImports, staticExports } = parseSync(path, readFileSync(path, 'utf8')).module;
  return [
    ...staticImports
      .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
      .map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ isType, moduleRequest }) => (isType ? [] : (moduleRequest?.value ?? []))),
    ),
  ];
}

it('before a command runs, only files of the command line itself are loaded', () => {
  const waiting = [fileURLToPath(new URL('../src/main.ts', import.meta.url))];
  const seen = new Set(waiting);
  const packages: string[] = [];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const specifier of loadedBy(path)) {
      const next = resolve(dirname(path), specifier);
      if (!specifier.startsWith('.')) packages.push(specifier);
      else if (!seen.has(next)) waiting.push(next);
      if (specifier.startsWith('.')) seen.add(next);
    }
  }
  expect(seen.size).toBeGreaterThan(20);
  expect(packages.filter((specifier) => !specifier.startsWith('node:'))).toEqual([]);
});
