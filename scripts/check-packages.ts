/**
 * `npm run gate -- packages`: builds and packs every package as it is published, lints the tarballs, holds the committed
 * descriptions of their interfaces and sizes to them, installs them into an empty project, and compiles and runs there.
 */
import '@basa/testkit/programs/help.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './build.ts';
import { staleReports } from './packages/api-files.ts';
import { runConsumer, setUpConsumer } from './packages/consumer.ts';
import { tryClient } from './packages/installed.ts';
import { lintTarball } from './packages/lint.ts';
import { packPackages } from './packages/pack.ts';
import { outgrownSizes } from './packages/size-page.ts';

const project = mkdtempSync(join(tmpdir(), 'basa-consumer-'));
try {
  const tarballs = packPackages(project);
  const wrong = [...staleReports(), ...(await Promise.all(tarballs.map(lintTarball))).flat()];
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  setUpConsumer(project, tarballs);
  const outgrown = await outgrownSizes(project, tarballs);
  if (outgrown.length > 0) throw new Error(outgrown.join('\n'));
  const { names } = tryClient(tarballs);
  console.log(`@basa/client alone installs ${names.length} packages, and no database`);
  process.stdout.write(runConsumer(project, process.execPath));
  console.log(`${tarballs.length} packages are fit to be published, install, compile and run in an empty project`);
} finally {
  rmSync(project, { recursive: true });
}
