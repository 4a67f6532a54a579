/** A process with many devices of the SDK: all enrol, then each fetches the model and gives one update. */
import { type BasaClient, nodeOutside } from '@basa/client/node';
import type { SendersWork } from '../large.ts';
import { numberOf, sdkDevice } from '../sdk-device.ts';

const RETRY = { attempts: 20, firstWaitMs: 100, longestWaitMs: 2000, timeoutMs: 120_000 };

const clients: BasaClient[] = [];
let work: SendersWork;

process.on('message', async (message: SendersWork | 'go') => {
  if (message === 'go') process.send?.(await allAtOnce(clients.entries(), contribute));
  else {
    work = message;
    await allAtOnce(work.tokens.entries(), enrol);
    process.send?.('enrolled');
  }
});
process.once('disconnect', () => process.exit());

/** One after the other in each of some lanes. Returns how many milliseconds each took, sorted. */
async function allAtOnce<Item>(
  items: IterableIterator<[number, Item]>,
  one: (item: [number, Item]) => Promise<void>,
): Promise<readonly number[]> {
  const took: number[] = [];
  const lane = async (): Promise<void> => {
    for (const item of items) {
      const began = performance.now();
      await one(item);
      took.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: work.atOnce }, lane));
  return took.sort((a, b) => a - b);
}

/** All of them share the connections of this process. */
const outside = nodeOutside();
const transport: typeof outside.transport = {
  send: (request) => outside.transport.send(request),
  close: async () => undefined,
};

async function enrol([n, token]: [number, string]): Promise<void> {
  clients[n] = await sdkDevice(work.services, token, { outside: { ...outside, transport }, retry: RETRY });
}

async function contribute([n, client]: [number, BasaClient]): Promise<void> {
  const delta = Float32Array.from({ length: work.dimension }, (_, place) => numberOf(work.first + n, place));
  const { version } = await client.model();
  const result = await client.contribute(delta, { trainedOn: version });
  if (result.kind !== 'accepted') throw new Error(`user ${work.first + n} was rejected: ${result.reason}`);
  await client.close();
}
