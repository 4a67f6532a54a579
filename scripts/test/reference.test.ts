/** The pages of docs/reference are what the code says of itself. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readPage } from '@basa/testkit/pages/snippets.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';
import { REFERENCE_PAGES } from '../reference/pages.ts';
import { linkedPaperMap, unlinkedNames } from '../reference/paper-map.ts';

it.each(Object.entries(REFERENCE_PAGES))(
  'docs/reference/%s is current; else: npm run write -- reference',
  async (file, page) => {
    expect(readPage(`docs/reference/${file}`)).toBe(await page());
  },
);

it('docs/paper-map.md links every name to the line that declares it; else: npm run write -- reference', () => {
  const page = readPage('docs/paper-map.md');
  expect(page).toBe(linkedPaperMap());
  // What is not declared anywhere: the paper's own names, packages, modes, a field of an answer, commands and one file.
  const known = /^(Setup\(\)|\w+\(PK, .*\)|paper|sealed|isFull|timed|learning|@basa\/experiments|npm run .*)$/;
  const others = unlinkedNames().filter((name) => !known.test(name));
  expect(others.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  expect(page.match(/\]\(\.\.\/packages\/[^)]*#L\d+\)/g)?.length).toBeGreaterThan(50);
});
