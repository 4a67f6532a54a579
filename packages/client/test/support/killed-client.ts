/** A process that connects, contributes, and kills itself when it reaches the step it is told. */
import { BasaClient, type NodeConnectOptions } from '../../src/node/index.ts';
import { deltaOf } from './connect.ts';

const [settings = '{}', step] = process.argv.slice(2);
const client = await BasaClient.connect(JSON.parse(settings) as NodeConnectOptions);
client.on('progress', (event) => {
  if (event.step === step && event.sent !== 0) process.kill(process.pid, 'SIGKILL');
});
await client.contribute(deltaOf(3), { trainedOn: 0 });
