/** `npm run write -- sizes`: writes docs/sizes.md from the packages as they are published (not committed). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import './build.ts';
import { packPackages } from './packages/pack.ts';
import { browserSizes, sizesPage } from './packages/sizes.ts';

const folder = mkdtempSync(join(tmpdir(), 'basa-sizes-'));
try {
  writeFileSync(join(ROOT, 'docs/sizes.md'), sizesPage(packPackages(folder), await browserSizes()));
  console.log('docs/sizes.md');
} finally {
  rmSync(folder, { recursive: true });
}
