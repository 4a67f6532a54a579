/** A real close with drop-outs: devices of the SDK fill a buffer of a server in its own process, and some never upload. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RING_32 } from '@basa/masking';
import { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { nodeTools } from '@basa/virtual-time';
import { bundleTrial } from '../../trials/bundle.ts';
import { vectorPrices } from '../protocols/prices.ts';
import { HeldDevices } from '../server/held-devices.ts';
import { loadHttp } from '../server/load.ts';
import { cpuSeconds } from '../server/processor.ts';

export interface CloseSetting {
  readonly bufferSize: number;
  readonly dropped: number;
  readonly dimension: number;
  readonly workers: number;
}

export interface MeasuredClose extends CloseSetting {
  /** One self mask for each accepted slot, and one for each of its edges to a dropped one. */
  readonly expansions: number;
  /** One mask of the dimension expanded and subtracted, in one thread, measured in this run. */
  readonly expansionMs: number;
  /** From the freeze to the new version. */
  readonly closeMs: number;
  /** Processor time of the server during the close, all threads. */
  readonly processorMs: number;
}

/** A buffer whose uploads stop is closed after this time. */
const STALL_MS = 1500;
const LOOK_MS = 20;
const AT_ONCE = 4;

export async function measureClose(setting: CloseSetting): Promise<MeasuredClose> {
  const { bufferSize, dropped, dimension, workers } = setting;
  const long = { uploadLeaseMs: 3_600_000, openMs: 7_200_000, closeMs: 7_200_000 };
  const processes = await TestProcesses.open({
    bundle: await bundleTrial(),
    policy: { dimension, bufferSize, minimum: bufferSize - dropped, modulus: RING_32, ...long },
    specification: { stallMs: STALL_MS },
    server: { workers, tickMs: LOOK_MS, seatMs: 3_600_000 },
  });
  const devices = new HeldDevices(processes);
  try {
    await devices.enrol(bufferSize);
    const uploads = await devices.until(/upload$/);
    // Every third slot or so leaves, so that there are edges to earlier and to later ones.
    const leaves = new Set(Array.from({ length: dropped }, (_, n) => Math.floor((n * bufferSize) / dropped)));
    const ctx = new URL(uploads[0]?.url ?? '').pathname.match(/[0-9a-f]{64}/)?.[0] ?? '';
    await loadHttp(
      uploads.filter((_, n) => !leaves.has(n)),
      AT_ONCE,
    );
    const pid = processes.children.get('server')?.pid ?? 0;
    const until = async (isReached: (status: string) => boolean): Promise<{ at: number; cpu: number }> => {
      while (!isReached((await processes.server.buffer(ctx)).status)) await sleep(LOOK_MS);
      return { at: performance.now(), cpu: cpuSeconds([pid], 'alone') };
    };
    const began = await until((status) => status !== 'filling');
    const ended = await until((status) => status === 'included');
    const accepted = bufferSize - dropped;
    return {
      ...setting,
      expansions: accepted * (1 + dropped),
      expansionMs: vectorPrices(dimension, nodeTools(), RING_32).expansionMs,
      closeMs: ended.at - began.at,
      processorMs: 1000 * (ended.cpu - began.cpu),
    };
  } finally {
    await devices.close();
    await processes.close();
  }
}
