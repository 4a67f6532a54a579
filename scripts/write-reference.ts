/** `npm run write -- reference`: writes docs/reference anew from commands, schemas and tables, and the links of docs/paper-map.md. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { REFERENCE_PAGES } from './reference/pages.ts';
import { linkedPaperMap } from './reference/paper-map.ts';

const folder = fileURLToPath(new URL('../docs/reference/', import.meta.url));
mkdirSync(folder, { recursive: true });
for (const [file, page] of Object.entries(REFERENCE_PAGES)) {
  writeFileSync(`${folder}${file}`, await page());
  console.log(`docs/reference/${file}`);
}
writeFileSync(fileURLToPath(new URL('../docs/paper-map.md', import.meta.url)), linkedPaperMap());
console.log('docs/paper-map.md');
