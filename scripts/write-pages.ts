/** `npm run write -- pages`: the web pages, into the dist folder of @basa/web. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundlePages } from '@basa/testkit/browser/bundle-pages.ts';
import { ROOT } from '@basa/testkit/root.ts';

const folder = join(ROOT, 'packages/web/dist/pages');
await bundlePages(folder);
writeFileSync(join(folder, '.stamp'), '');
