/** `npm run write -- pages`: the web pages, into the dist folder of @basa/dashboard. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundlePages } from '@basa/testkit/browser/bundle-pages.ts';
import { ROOT } from '@basa/testkit/root.ts';

const folder = join(ROOT, 'packages/dashboard/dist/pages');
await bundlePages(folder);
writeFileSync(join(folder, '.stamp'), '');
