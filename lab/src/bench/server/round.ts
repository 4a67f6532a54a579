/** One round of a benchmark: devices fill some buffers, step by step, each step by all of them at once and timed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { loadDisk } from './disk.ts';
import { HeldDevices, type HeldRequest } from './held-devices.ts';
import { type Load, loadHttp, loadTcp } from './load.ts';

const LOOK_MS = 2;

export const STEPS = ['seats', 'deposits', 'keys', 'durable', 'discard', 'tcp', 'buffered', 'direct'] as const;
export type Step = (typeof STEPS)[number];

export interface Round {
  readonly loads: Readonly<Record<Step, Load>>;
  /** From the last upload of every buffer, sent at once, to the first new version, and to the last. */
  readonly closeMs: number;
  readonly closesPerSecond: number;
}

export interface RoundOptions {
  readonly processes: TestProcesses;
  readonly buffers: number;
  readonly atOnce: number;
  readonly discardUrl: string;
  /** Sends the uploads that are timed, where not at once; the last of every buffer goes later. */
  readonly sendUploads?: (uploads: readonly HeldRequest[]) => Promise<Load>;
}

export async function playRound(options: RoundOptions): Promise<Round> {
  const { processes, buffers, atOnce, discardUrl } = options;
  const send = (requests: readonly HeldRequest[]): Promise<Load> => loadHttp(requests, atOnce);
  const { version: before = 0 } = await processes.server.task(processes.task);
  const devices = new HeldDevices(processes);
  await devices.enrol(buffers * processes.policy.bufferSize);
  const seats = await send(await devices.until(/seats$/));
  const deposits = await send(await devices.until(/deposits$/));
  const keys = await send(await devices.until(/keys$/));
  const { first, last } = splitUploads(await devices.until(/upload$/));
  const bodies = first.map(({ body }) => body);
  const discard = await send(first.map((one) => ({ ...one, url: discardUrl })));
  const tcp = await loadTcp(Number(new URL(discardUrl).searchParams.get('tcp')), bodies, atOnce);
  const buffered = await loadDisk(bodies, atOnce, 'buffered');
  const direct = await loadDisk(bodies, atOnce, 'direct');
  const durable = await (options.sendUploads ?? send)(first);
  await loadHttp(last, last.length);
  const began = performance.now();
  const reached = async (version: number): Promise<number> => {
    while (((await processes.server.task(processes.task)).version ?? 0) < version) await sleep(LOOK_MS);
    return performance.now() - began;
  };
  const closeMs = await reached(before + 1);
  const closesPerSecond = (1000 * buffers) / (await reached(before + buffers));
  await devices.close();
  return { loads: { seats, deposits, keys, durable, discard, tcp, buffered, direct }, closeMs, closesPerSecond };
}

/** No buffer is full, and so none is closed, before its last upload. */
function splitUploads(uploads: readonly HeldRequest[]) {
  const lastOf = new Map(uploads.map((one) => [new URL('../..', one.url).href, one]));
  const last = [...lastOf.values()];
  return { first: uploads.filter((one) => !last.includes(one)), last };
}
