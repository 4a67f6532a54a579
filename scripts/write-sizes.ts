/** `npm run write -- sizes`: writes docs/sizes.md anew from the packages as they are published. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './build.ts';
import { setUpConsumer } from './packages/consumer.ts';
import { packPackages } from './packages/pack.ts';
import { writeSizes } from './packages/size-page.ts';

const project = mkdtempSync(join(tmpdir(), 'basa-sizes-'));
try {
  const tarballs = packPackages(project);
  setUpConsumer(project, tarballs);
  await writeSizes(project, tarballs);
  console.log('docs/sizes.md');
} finally {
  rmSync(project, { recursive: true });
}
