import { readdirSync, readFileSync } from 'node:fs';
import { formatVectors, VECTOR_FILES } from '@basa/testkit/vectors/all.ts';
import { REFUSALS_FILE, refusalTable } from '@basa/testkit/vectors/refusals.ts';
import { expect, it } from 'vitest';

const folder = new URL('../conformance/vectors/', import.meta.url);

it.each(Object.keys(VECTOR_FILES))('the code makes vectors/%s as it is committed', async (name) => {
  const made = await VECTOR_FILES[name]?.();
  expect(formatVectors(made ?? {})).toBe(readFileSync(new URL(name, folder), 'utf8'));
});

/** Published by others: NIST and the authors of X-Wing. */
const PUBLISHED = ['ml-kem.json'];

it('every committed vector file is made by the code, or published by others', () => {
  expect(
    readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort(),
  ).toEqual([...Object.keys(VECTOR_FILES), ...PUBLISHED].sort());
});

it('the client in Python carries the table of refusals as it is, and the version of the packages', () => {
  const root = new URL('../', import.meta.url);
  expect(readFileSync(new URL(REFUSALS_FILE, root), 'utf8')).toBe(refusalTable());
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string };
  expect(readFileSync(new URL('clients/python/pyproject.toml', root), 'utf8')).toContain(`\nversion = "${version}"\n`);
});
