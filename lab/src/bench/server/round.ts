/**
 * One round of a benchmark: devices fill some buffers. In each step, all devices send their requests at the same time, and the step is
 * measured.
 */
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
  /** The time from the last uploads of all buffers, sent at the same time, to the first and to the last new version. */
  readonly closeMs: number;
  readonly closesPerSecond: number;
}

export interface RoundOptions {
  readonly processes: TestProcesses;
  readonly buffers: number;
  readonly atOnce: number;
  readonly discardUrl: string;
  /** Sends the measured uploads in another way than all at the same time. The last upload of every buffer follows later. */
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

/** A buffer is not full before its last upload, so no buffer is closed before that. */
function splitUploads(uploads: readonly HeldRequest[]) {
  const lastOf = new Map(uploads.map((one) => [new URL('../..', one.url).href, one]));
  const last = [...lastOf.values()];
  return { first: uploads.filter((one) => !last.includes(one)), last };
}
