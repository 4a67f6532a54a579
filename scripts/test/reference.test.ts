/** The pages of docs/reference are what the code says of itself. */

import { readPage } from '@basa/testkit/pages/snippets.ts';
import { expect, it } from 'vitest';
import { REFERENCE_PAGES } from '../reference/pages.ts';
import { linkedPaperMap } from '../reference/paper-map.ts';

it.each(Object.entries(REFERENCE_PAGES))(
  'docs/reference/%s is current; else: npm run write -- reference',
  async (file, page) => {
    expect(readPage(`docs/reference/${file}`)).toBe(await page());
  },
);

it('docs/paper-map.md links every name to the line that declares it; else: npm run reference', () => {
  const page = readPage('docs/paper-map.md');
  expect(page).toBe(linkedPaperMap());
  expect(page.match(/\]\(\.\.\/packages\/[^)]*#L\d+\)/g)?.length).toBeGreaterThan(50);
});
