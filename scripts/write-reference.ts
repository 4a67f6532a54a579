/** `npm run write -- reference`: writes docs/reference anew from commands, schemas and tables. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { REFERENCE_PAGES } from './reference/pages.ts';

const folder = fileURLToPath(new URL('../docs/reference/', import.meta.url));
mkdirSync(folder, { recursive: true });
for (const [file, page] of Object.entries(REFERENCE_PAGES)) {
  writeFileSync(`${folder}${file}`, await page());
  console.log(`docs/reference/${file}`);
}
