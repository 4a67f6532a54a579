/** Run this once as the operator: it creates the task. The owner of the authority lets the devices in. */
import { writeFile } from 'node:fs/promises';
import { createTask } from '@basa/client/operator';
import { clip, model, test, training } from './model.ts';

const DEVICES = 3;
const { BASA_SERVER: server, BASA_AUTHORITY: authority, BASA_AUTHORITY_KEY: authorityKey } = process.env;
const { BASA_OPERATOR_TOKEN: operatorToken, BASA_AUTHORITY_TOKEN: authorityToken } = process.env;
if (!server || !authority || !authorityKey || !operatorToken || !authorityToken) {
  console.error('Set BASA_SERVER, BASA_AUTHORITY, BASA_AUTHORITY_KEY, BASA_OPERATOR_TOKEN and BASA_AUTHORITY_TOKEN.');
  console.error('`npm run basa -- dev` prints them.');
  process.exit(2);
}
const { task } = await createTask({
  server,
  authority,
  operatorToken,
  authorityToken,
  model,
  training,
  clip,
  bufferSize: DEVICES, // K: the number of updates in one sum
  minimum: DEVICES, // Kmin: devices take part in no sum of fewer than three updates
  places: DEVICES, // devices that train at a time
  evaluationSet: await test(),
}).catch((error: Error & { readonly next?: string }) => {
  console.error(error.message, error.next ?? '');
  process.exit(1);
});
console.log(`task ${task}`);
await writeFile('task.json', `${JSON.stringify({ server, authority, authorityKey, task }, null, 2)}\n`);
console.log('wrote task.json: the addresses and keys that devices need');
