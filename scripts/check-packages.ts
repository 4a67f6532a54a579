/**
 * `npm run gate -- packages`: builds and packs every package as it is published, lints the tarballs, reads their interfaces
 * with API Extractor, holds what browsers load to its limits, installs the tarballs into an empty project, compiles and
 * runs there.
 */
import '@basa/testkit/programs/help.ts';
import './build.ts';
import { writeReports } from './packages/api-reports.ts';
import { inConsumer, installedIn, runConsumer, tryClient } from './packages/consumer.ts';
import { lintTarball } from './packages/lint.ts';
import { packPackages } from './packages/pack.ts';
import { browserSizes, outgrown } from './packages/sizes.ts';

await inConsumer(packPackages, async (project, folder, tarballs) => {
  const lint = (await Promise.all(tarballs.map(lintTarball))).flat();
  const wrong = [...lint, ...writeReports(), ...outgrown(await browserSizes())];
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  for (const [what, { names, bytes }] of [
    ['@basa/client alone', tryClient(tarballs, folder)],
    ['all of ours', installedIn(project)],
  ] as const)
    console.log(`${what}: npm installs ${names.length} packages, ${(bytes / 1e6).toFixed(1)} MB`);
  process.stdout.write(runConsumer(project, process.execPath));
  console.log(`${tarballs.length} packages are fit to be published, install, compile and run in an empty project`);
});
