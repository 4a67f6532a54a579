/** The OpenAPI documents that are checked in are what the services serve. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { OPENAPI_DOCUMENTS } from '../reference/openapi.ts';

it.each(Object.entries(OPENAPI_DOCUMENTS))(
  'docs/openapi/%s.json is current; else: npm run write -- openapi',
  async (name, document) => {
    const file = fileURLToPath(new URL(`../../docs/openapi/${name}.json`, import.meta.url));
    expect(readFileSync(file, 'utf8')).toBe(await document());
  },
);
