/** `npm run gate -- projects`: follows the steps that `basa new` prints, for every template, from installed packages and in a clone. */
import '@basa/testkit/programs/help.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './build.ts';
import { setUpConsumer } from './packages/consumer.ts';
import { followInClone, followInstalled } from './packages/new-projects.ts';
import { packPackages } from './packages/pack.ts';

const project = mkdtempSync(join(tmpdir(), 'basa-projects-'));
try {
  setUpConsumer(project, packPackages(project));
  await followInstalled(project);
  await followInClone();
} finally {
  rmSync(project, { recursive: true });
}
