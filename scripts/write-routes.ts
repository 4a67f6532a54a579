/** `npm run write -- routes`: writes the routes into docs/http.md, from the services. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { ROUTES_PAGE, withRoutes } from './reference/routes.ts';

const page = join(ROOT, ROUTES_PAGE);
writeFileSync(page, await withRoutes(readFileSync(page, 'utf8')));
console.log(ROUTES_PAGE);
