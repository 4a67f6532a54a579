/** A process that sends requests which it was given, over connections that stay open: the bench itself must not be what uploads wait for. */
import { Agent, request } from 'node:http';
import type { HeldRequest } from './held-uploads.ts';

export interface LoadWork {
  readonly requests: readonly HeldRequest[];
  readonly atOnce: number;
}

let work: LoadWork = { requests: [], atOnce: 1 };

process.on('message', async (message: LoadWork | 'go') => {
  if (message !== 'go') work = message;
  else await sendAll(work);
  process.send?.('done');
});
process.once('disconnect', () => process.exit());

async function sendAll({ requests, atOnce }: LoadWork): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const left = [...requests];
  const lane = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await send(agent, next);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  agent.destroy();
}

function send(agent: Agent, { method, url, headers, body }: HeldRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { agent, method, headers: { ...headers, 'content-length': String(body.length) } };
    const asking = request(url, options, (answer) => {
      answer.resume();
      if (answer.statusCode === 200) answer.once('end', resolve);
      else answer.once('end', () => reject(new Error(`${method} ${url}: ${answer.statusCode}`)));
    });
    asking.once('error', reject);
    asking.end(body);
  });
}
