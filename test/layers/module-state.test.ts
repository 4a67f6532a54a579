/** Pure packages keep nothing between two calls but what their callers hold. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { HOUSE } from './house.ts';
import { moduleState } from './module-state.ts';

const packages = fileURLToPath(new URL('../../packages', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'basa-module-state-'));
afterAll(() => rmSync(folder, { recursive: true }));

const pure = Object.keys(HOUSE).filter((name) => HOUSE[name]?.pure);

it.each(pure)('no module of %s has state', (name) => {
  const source = join(packages, name, 'src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(0);
  const found = files.flatMap((file) => moduleState(join(source, file)).map((variable) => `${file}: ${variable}`));
  expect(found).toEqual([]);
});

it.each([
  ['let count = 0;', ['count']],
  ['export let count = 0;', ['count']],
  ['var count = 0;', ['count']],
  ['const spare: number[] = [];', ['spare']],
  ['const named = {};', ['named']],
  ['const made = new Map<number, string>();', ['made']],
  ['export const seen = new Set<string>();', ['seen']],
  ['const open = new WeakMap<object, number>();', ['open']],
  ['const names: ReadonlySet<string> = new Set(["a"]);', []],
  ['const pages: ReadonlyMap<string, number> = new Map([["a", 1]]);', []],
  ['const nobody: readonly number[] = [];', []],
  ['const nothing: Readonly<Record<string, number>> = {};', []],
  ['const sizes = [1, 2] as const;', []],
  ['function f() { let count = 0; const seen = new Set(); return [count, seen]; }', []],
])('%s counts as state: %j', (text, names) => {
  const path = join(folder, 'module.ts');
  writeFileSync(path, text);
  expect(moduleState(path)).toEqual(names);
});
