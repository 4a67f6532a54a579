/** The pages of docs/reference are what the code says of itself. */

import { readPage } from '@basa/testkit/pages/snippets.ts';
import { expect, it } from 'vitest';
import { REFERENCE_PAGES } from '../reference/pages.ts';

it.each(Object.entries(REFERENCE_PAGES))(
  'docs/reference/%s is current; else: npm run write -- reference',
  async (file, page) => {
    expect(readPage(`docs/reference/${file}`)).toBe(await page());
  },
);
