/**
 * `npm run gate -- nodes [20 22 24 26]`: the packages as they are published, in an empty project, on other versions of Node. Their
 * binaries are fetched from the registry into a temporary folder.
 */
import '@basa/testkit/programs/help.ts';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './build.ts';
import { runConsumer, setUpConsumer } from './packages/consumer.ts';
import { fetchNode } from './packages/node-binary.ts';
import { packPackages } from './packages/pack.ts';

const asked = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'basa-nodes-'));
try {
  const project = join(folder, 'project');
  mkdirSync(project);
  setUpConsumer(project, packPackages(project));
  for (const major of asked.length > 0 ? asked : [20, 22, 24, 26]) {
    const place = join(folder, `node-${major}`);
    mkdirSync(place);
    const node = fetchNode(major, place);
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
    console.log(`Node ${version}:\n${runConsumer(project, node)}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
