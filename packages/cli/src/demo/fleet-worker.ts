/** A part of the fleet in a worker thread: real clients of the SDK that train, contribute, and sometimes drop out. */

import { subscribe } from 'node:diagnostics_channel';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type BasaClient, BasaClient as Clients, type Step, trainerFor } from '@basa/client/node';
import { unsafePaperRun } from '@basa/client/unsafe-paper';
import { logisticRegression, type RandomStream, randomStream } from '@basa/learning';
import { noProgress } from '../data/cache.ts';
import { loadMnist } from '../data/mnist.ts';
import type { FleetDevice, FleetNews, FleetWork } from './fleet.ts';
import { trainingSeed } from './plain-twin.ts';

const work = workerData as FleetWork;
const ending = new AbortController();
setMaxListeners(0, ending.signal); // every device listens to it
const tell = (news: FleetNews): void => parentPort?.postMessage(news);
parentPort?.once('message', () => ending.abort());

let requests = 0;
subscribe('undici:request:create', () => requests++);

const { train: dataset } = await loadMnist({ progress: noProgress });
const trainer = await trainerFor(logisticRegression());
await Promise.all(work.devices.map(live));
parentPort?.close();

/** One device until the task ends or the demo is over. */
async function live(device: FleetDevice): Promise<void> {
  const { server, authority, authorityKey, task, mode } = work;
  const { signal } = ending;
  const chance = randomStream(work.seed, 'device', device.number);
  let client: BasaClient | undefined;
  try {
    await pause(chance);
    const identity = device.folder;
    // The paper's protocol has no noise: its sums are exact, and mix versions.
    const floor = { unsafeMixedVersions: mode === 'paper', noNoise: mode === 'paper' };
    client = await Clients.connect({
      ...{ server, authority, authorityKey, task, identity, token: device.token, floor, signal },
    });
    for (let round = 0; !signal.aborted; round++) {
      const isOver = await contributeOnce(client, device, round, chance);
      tell({ kind: 'requests', count: requests });
      requests = 0;
      if (isOver) return;
      await pause(chance);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await client?.close();
  }
}

/** One contribution, from the model to the upload. Returns true if the task is over. */
async function contributeOnce(
  client: BasaClient,
  { number, indices }: FleetDevice,
  round: number,
  chance: RandomStream,
): Promise<boolean> {
  const leaving = new AbortController();
  const leavesAt = work.mode === 'paper' ? leavesPaperAt(number, round) : leavesAtRandom(chance);
  let trainedOn = 0;
  const forget = [
    client.on('progress', ({ step }) => {
      if (step === leavesAt) leaving.abort();
    }),
    client.on('trained', ({ version }) => {
      trainedOn = version;
    }),
    client.on('accepted', ({ ctx, costs }) => tell({ kind: 'accepted', device: number, round, trainedOn, ctx, costs })),
  ];
  try {
    const signal = AbortSignal.any([ending.signal, leaving.signal]);
    const training = { seed: trainingSeed(work.seed, number, round) };
    const options = { rounds: 1, training, signal };
    const { ended } = await (work.mode === 'paper'
      ? unsafePaperRun(client, trainer, { dataset, indices }, options)
      : client.run(trainer, { dataset, indices }, options));
    return ended === 'task-finished';
  } catch (error) {
    if (ending.signal.aborted || !leaving.signal.aborted) throw error;
    if (work.mode === 'one-shot') await client.discard();
    tell({ kind: 'dropped', count: 1 });
    return false;
  } finally {
    for (const end of forget) end();
  }
}

function leavesAtRandom(chance: RandomStream): Step | undefined {
  if (chance.unit() >= work.dropShare) return undefined;
  return chance.unit() < 0.5 ? 'mask' : 'upload';
}

/**
 * In paper mode the first device leaves once, while it holds a position: the others wait for its time-out. It leaves
 * before it asks for its key, because a key that was issued cannot be taken back.
 */
function leavesPaperAt(device: number, round: number): Step | undefined {
  return device === 0 && round === 1 ? 'key' : undefined;
}

/** Exponential, so that devices come at random times. */
function pause(chance: RandomStream): Promise<void> {
  const ms = -Math.log(1 - chance.unit()) * work.pauseMs;
  return sleep(ms, undefined, { signal: ending.signal }).catch(() => undefined);
}
