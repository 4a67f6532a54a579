/** Every key of a configuration stands in docs/operations.md with its default, and no other does. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { withTables } from './support/config-docs.ts';

it('the tables in docs/operations.md are current; else: npm run config-docs', () => {
  const page = readFileSync(new URL('../docs/operations.md', import.meta.url), 'utf8');
  expect(page).toBe(withTables(page));
});
