/** `npm run gate -- projects`: follows the steps that `basa new` prints, for every template, from installed packages and in a clone. */
import '@basa/testkit/programs/help.ts';
import './build.ts';
import { inConsumer } from './packages/consumer.ts';
import { followInClone, followInstalled } from './packages/new-projects.ts';
import { packPackages } from './packages/pack.ts';

await inConsumer(packPackages, followInstalled);
await followInClone();
