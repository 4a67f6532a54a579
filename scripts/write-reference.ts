/** `npm run write -- reference`: writes docs/reference and docs/openapi from commands, schemas, tables and services (not committed). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { REFERENCE } from './reference/pages.ts';

for (const [file, page] of Object.entries(REFERENCE)) {
  mkdirSync(dirname(join(ROOT, file)), { recursive: true });
  writeFileSync(join(ROOT, file), await page());
  console.log(file);
}
