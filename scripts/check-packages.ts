/**
 * `npm run check:packages`: packs every package as it would be published, installs the tarballs into an empty
 * project, and there compiles and runs a program over their public entries.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import './build.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const project = mkdtempSync(join(tmpdir(), 'basa-consumer-'));

const PROGRAM = `
import { abeSealing, createMclGroup, abeIssuer, setup, type Group } from '@basa/abe';
import { createNobleGroup } from '@basa/abe/noble';
import { applyMasksInPlace, plainVectorKernel, planQuantizer, RING_32, Secret, type Planned } from '@basa/masking';
import { createNodeKeystream, createWasmVectorKernel, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { webSuite } from '@basa/runtime/web';

const planned: Planned = planQuantizer({ summands: 10, clip: 1, resolution: { bits: 16 } });
const tools = { suite: nodeSuite, kernel: createWasmVectorKernel() ?? plainVectorKernel(), keystream: createNodeKeystream() };
const seed = nodeRandomBytes(32);
const vector = new Uint32Array(100_000);
for (const sign of [1, -1] as const) {
  applyMasksInPlace(vector, { modulus: RING_32, salt: seed, terms: [{ seed: new Secret(seed.slice()), sign }] }, tools);
}
if (planned.kind !== 'planned' || vector.some((word) => word !== 0) || webSuite.sha256(seed).length !== 32) throw new Error('wrong');

const groups: readonly Group[] = [await createMclGroup(), createNobleGroup()];
for (const group of groups) {
  const abe = { group, suite: nodeSuite, randomBytes: nodeRandomBytes };
  const { publicKey, masterKey } = setup(abe);
  const sealing = abeSealing({ ...abe, publicKey });
  const [attribute, context] = [nodeRandomBytes(32), nodeRandomBytes(32)];
  const opened = sealing.open(sealing.seal(seed, attribute, context), abeIssuer(masterKey, abe).issue(attribute), context);
  if (opened?.join() !== seed.join()) throw new Error('wrong seed from ' + group.name);
}
`;

try {
  const names = readdirSync(join(root, 'packages'));
  const pack = ['pack', '--silent', '--pack-destination', project, ...names.map((name) => `./packages/${name}`)];
  const tarballs = execFileSync('npm', pack, { cwd: root, encoding: 'utf8' }).trim().split('\n');
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  writeFileSync(join(project, 'program.ts'), PROGRAM);
  const install = ['install', '--no-audit', '--no-fund', '--loglevel=error', ...tarballs.map((name) => `./${name}`)];
  execFileSync('npm', install, { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] });
  // No source condition and no Node types here: the published declarations must stand alone.
  const options = ['--strict', '--target', 'ES2022', '--module', 'NodeNext', '--lib', 'ES2022,DOM', '--types', ''];
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['program.ts', ...options], { cwd: project, stdio: 'inherit' });
  execFileSync(process.execPath, ['program.js'], { cwd: project, stdio: 'inherit' });
  copyFileSync(fileURLToPath(new URL('consumer-services.mjs', import.meta.url)), join(project, 'services.mjs'));
  execFileSync(process.execPath, ['services.mjs'], { cwd: project, stdio: 'inherit' });
  execFileSync(join(project, 'node_modules/.bin/basa'), ['--help'], { cwd: project, stdio: 'ignore' });
  console.log(`${tarballs.length} packages install, compile and run in an empty project`);
} finally {
  rmSync(project, { recursive: true });
}
