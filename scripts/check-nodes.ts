/**
 * `npm run gate -- nodes [20 22 24 26]`: the packages as they are published, in an empty project, on other versions of Node. Their
 * binaries are fetched from the registry into a temporary folder.
 */
import '@basa/testkit/programs/help.ts';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './build.ts';
import { setUpConsumer } from './packages/consumer.ts';
import { runOnNodes } from './packages/node-binary.ts';
import { packPackages } from './packages/pack.ts';

const asked = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'basa-nodes-'));
try {
  const project = join(folder, 'project');
  mkdirSync(project);
  setUpConsumer(project, packPackages(project));
  runOnNodes(project, folder, asked.length > 0 ? asked : undefined);
} finally {
  rmSync(folder, { recursive: true });
}
