/**
 * `npm run release`: checks that all versions are the same and in the changelog, then builds, packs and lints every package, and writes a
 * bill of materials (CycloneDX) and the hashes of the tarballs beside them. Installs exactly these tarballs into an empty project and runs
 * them on each supported Node (from the registry), and tries to publish them without publishing: only .github/workflows/release.yml does.
 */
import '@basa/testkit/programs/help.ts';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { parse } from 'yaml';
import { inConsumer, runOnNodes } from './packages/consumer.ts';
import { releaseProblems, type VersionedManifest } from './packages/release-problems.ts';
import { bomOfLock, publishedBom, sha256Of } from './packages/sbom.ts';

const tag = process.env['GITHUB_REF_TYPE'] === 'tag' ? process.env['GITHUB_REF_NAME'] : undefined;
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
const listed = execFileSync('npm', ['query', '.workspace'], { cwd: ROOT, encoding: 'utf8' });
const manifests = JSON.parse(listed) as readonly VersionedManifest[];
const chart = parse(readFileSync(join(ROOT, 'deploy/helm/basa/Chart.yaml'), 'utf8')) as {
  version: string;
  appVersion: string;
};
const versioned = [
  ...manifests,
  { name: 'the Helm chart', version: chart.version },
  { name: 'the program of the Helm chart', version: chart.appVersion },
];
const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
const problems = releaseProblems(version, versioned, changelog, tag);
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}

// Loaded after the checks: it builds.
const { tarballs } = await import('./write-packages.ts');
const bom = join(dirname(tarballs[0]?.file ?? ''), `basa-${version}.cdx.json`);
writeFileSync(
  bom,
  `${JSON.stringify(publishedBom(bomOfLock(), new Map(tarballs.map((one) => [one.name, one]))), null, 2)}\n`,
);
const sums = [...tarballs.map(({ file }) => file), bom].map((file) => `${sha256Of(file)}  ${basename(file)}\n`);
writeFileSync(join(dirname(bom), 'SHA256SUMS'), sums.join(''));
console.log(`${bom} and SHA256SUMS say what is in this release`);
await inConsumer(
  () => tarballs,
  (project, folder) => runOnNodes(project, folder),
);
const dry = ['--access', 'public', '--loglevel=error', '--dry-run', '--provenance=false'];
for (const { file } of tarballs) execFileSync('npm', ['publish', file, ...dry], { stdio: 'inherit' });
console.log(`${tarballs.length} packages could be published as ${version}`);
