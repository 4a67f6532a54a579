/** One device: it downloads the model, trains on its own examples, and contributes a masked update. */
import { existsSync, readFileSync } from 'node:fs';
import { BasaClient, gatheringText, refusalText, trainerFor } from '@basa/client/node';
import { data, model } from './model.ts';

const [device = 0, devices = 3] = process.argv.slice(2).map(Number);
for (const [file, step] of [
  ['task.json', 'create'],
  ['enrolment/tokens.txt', 'tokens'],
] as const) {
  if (existsSync(file)) continue;
  console.error(`${file} does not exist yet. Run \`npm run ${step}\` first: it writes the file.`);
  process.exit(2);
}
const pins = JSON.parse(readFileSync('task.json', 'utf8'));
const tokens = readFileSync('enrolment/tokens.txt', 'utf8').split('\n');

const identity = `devices/${pins.task.slice(0, 8)}/${device}`;
const client = await BasaClient.connect({ ...pins, token: tokens[device], identity }).catch(
  (error: Error & { readonly next?: string }) => {
    console.error(error.message, error.next ?? '');
    process.exit(1);
  },
);
client.on('trained', ({ version, loss }) =>
  console.log(`device ${device}: trained on version ${version}, loss ${loss.toFixed(3)}`),
);
client.on('accepted', () => console.log(`device ${device}: accepted`));
client.on('waiting', (gathering) => console.log(`device ${device}: ${gatheringText(gathering)}`));
client.on('rejected', ({ reason, detail }) => console.error(`device ${device}: ${refusalText(reason, detail)}`));
const { accepted } = await client.run(await trainerFor(model), await data({ device, devices }), { rounds: 1 });
await client.close();
if (accepted === 0) process.exitCode = 1;
