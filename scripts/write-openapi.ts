/** `npm run write -- openapi`: writes docs/openapi anew from what the services say of themselves. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { OPENAPI_DOCUMENTS } from './reference/openapi.ts';

const folder = fileURLToPath(new URL('../docs/openapi/', import.meta.url));
mkdirSync(folder, { recursive: true });
for (const [name, document] of Object.entries(OPENAPI_DOCUMENTS)) {
  writeFileSync(`${folder}${name}.json`, await document());
  console.log(`docs/openapi/${name}.json`);
}
