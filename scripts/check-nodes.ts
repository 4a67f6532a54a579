/**
 * `npm run gate -- nodes [20 22 24 26]`: the packages as they are published, in an empty project, on other versions of Node. Their
 * binaries are fetched from the registry into a temporary folder.
 */
import '@basa/testkit/programs/help.ts';
import './build.ts';
import { inConsumer, runOnNodes } from './packages/consumer.ts';
import { packPackages } from './packages/pack.ts';

const asked = process.argv.slice(2).map(Number);
await inConsumer(packPackages, (project, folder) => runOnNodes(project, folder, asked.length > 0 ? asked : undefined));
