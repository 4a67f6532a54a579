/** `npm run config-docs`: writes the tables of configuration keys in docs/operations.md anew, from the schemas. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withTables } from '../test/support/config-docs.ts';

const page = fileURLToPath(new URL('../docs/operations.md', import.meta.url));
writeFileSync(page, withTables(readFileSync(page, 'utf8')));
