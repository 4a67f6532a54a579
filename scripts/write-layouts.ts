/** `npm run write -- layouts`: writes the layouts into docs/wire-format.md, from the codecs. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { LAYOUTS_PAGE, withLayouts } from './reference/layouts.ts';

const page = join(ROOT, LAYOUTS_PAGE);
writeFileSync(page, withLayouts(readFileSync(page, 'utf8')));
console.log(LAYOUTS_PAGE);
