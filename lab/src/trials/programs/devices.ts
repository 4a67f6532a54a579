/** A process with some devices of the SDK. Each offers the one-hot updates that it gets, until the process is killed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type BasaClient, BasaClient as Clients, ProblemError, UnreachableError } from '@basa/client/node';
import type { DevicesWork, FromDevices, ToDevices } from '../fleet.ts';

const PIECE_BYTES = 16_384;
const PAUSE_MS = 100;
const retry = { attempts: 8, firstWaitMs: 50, longestWaitMs: 1000 };
const offers = new Map<number, (place: number) => void>();
const tell = (news: FromDevices): void => void process.send?.(news);

process.on('message', (message: ToDevices) => {
  if (message.kind === 'offer') offers.get(message.device)?.(message.place);
  else for (const device of message.work.devices) void live(message.work, device);
});
process.once('disconnect', () => process.exit());
tell({ kind: 'ready' });

async function live(work: DevicesWork, device: DevicesWork['devices'][number]): Promise<void> {
  const client = await again(device.number, () =>
    Clients.connect({ ...work, ...identityOf(device), retry, floor: { minimum: 2, noNoise: true } }),
  );
  client.on('progress', ({ step }) => tell({ kind: 'step', device: device.number, step }));
  for (let isUnknown = !client.isInterrupted; ; isUnknown = false) {
    const place = await new Promise<number>((resolve) => {
      offers.set(device.number, resolve);
      tell({ kind: 'idle', device: device.number, isUnknown });
    });
    await offer(client, work, device.number, place);
  }
}

function identityOf({ folder, token }: DevicesWork['devices'][number]) {
  return { identity: folder, token, pieceBytes: PIECE_BYTES };
}

/** Finishes an interrupted session first. Its acknowledgement belongs to the coordinate that the device had when it was killed. */
async function offer(client: BasaClient, work: DevicesWork, device: number, place: number): Promise<void> {
  const delta = new Float32Array(work.dimension);
  delta[place] = 1;
  const result = await again(device, async () => {
    const resumed = await client.resume();
    if (resumed?.kind === 'accepted') return resumed;
    if (client.isInterrupted) throw new Waiting(resumed?.reason);
    if (resumed !== undefined) return resumed;
    const admitted = await client.admission();
    if (admitted.kind === 'rejected') return admitted;
    const { version } = await client.model();
    const given = await client.contribute(delta, { trainedOn: version });
    if (client.isInterrupted) throw new Waiting(given.kind === 'rejected' ? given.reason : given.kind);
    return given;
  });
  if (result.kind === 'accepted') {
    const { ctx, joinTag } = result;
    tell({ kind: 'acknowledged', device, place, ctx, joinTag });
  } else {
    const { reason, update } = result;
    tell({ kind: 'rejected', device, reason, update });
    await sleep(PAUSE_MS);
  }
}

/** The server takes the bytes that the device keeps at a later time. */
class Waiting extends Error {}

/** Services may be down, so a request without an answer is repeated without limit. */
async function again<Result>(device: number, work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isPutOff = error instanceof Waiting || error instanceof UnreachableError || error instanceof ProblemError;
      if (isPutOff) tell({ kind: 'put-off', device, what: error.message });
      else tell({ kind: 'fault', device, what: String((error as Error).stack) });
      await sleep(PAUSE_MS);
    }
  }
}
