/** Measures the server under load: durable uploads compared with their limits, seats, deposits, keys, closes, memory, and cost by step. */
import type { ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess, stopProcess } from '@basa/cli/internal/local/service-process.ts';
import { TestProcesses, type TestProcessesOptions } from '@basa/testkit/processes/test-processes.ts';
import { bundleTrial, type TrialBundle } from '../trials/bundle.ts';
import type { BenchResult } from './result.ts';
import type { HeldRequest } from './server/held-devices.ts';
import type { Load } from './server/load.ts';
import { bytesPerUpload } from './server/memory.ts';
import { profileUploads } from './server/profile.ts';
import { playRound, type Round } from './server/round.ts';
import { measureShots, type ShotsMeasured, type ShotsSize, shotsTable } from './server/shots.ts';
import { bestOf, closeTable, latencyTable, type Measured, ratioOf, uploadTable } from './server/tables.ts';

interface Size {
  readonly name: string;
  readonly dimension: number;
  /** Each sends its uploads to server, node:http, TCP and disk in turn; one more before them measures memory. */
  readonly rounds: number;
  /** Filled in one round. */
  readonly buffers: number;
  readonly bufferSize: number;
}

const FOUR_MEGABYTES: Size = { name: '1M', dimension: 1_000_000, rounds: 4, buffers: 2, bufferSize: 12 };
const SIZES: readonly Size[] = [
  { name: '7,850', dimension: 7850, rounds: 3, buffers: 3, bufferSize: 12 },
  { name: '100k', dimension: 100_000, rounds: 3, buffers: 2, bufferSize: 12 },
  FOUR_MEGABYTES,
  { name: '10M', dimension: 10_000_000, rounds: 2, buffers: 1, bufferSize: 5 },
];
const QUICK_SIZES: readonly Size[] = [
  { name: '7,850', dimension: 7850, rounds: 2, buffers: 3, bufferSize: 12 },
  FOUR_MEGABYTES,
];
const AT_ONCE = 4;
const SMALL_SHOTS: ShotsSize = { name: '7,850', dimension: 7850, uploads: 300, rounds: 2 };
const LARGE_SHOTS: ShotsSize = { name: '1M', dimension: 1_000_000, uploads: 24, rounds: 2 };

export async function benchServer({ quick }: { readonly quick: boolean }): Promise<BenchResult> {
  const bundle = await bundleTrial();
  const discard = await startDiscard(bundle);
  const results: Measured[] = [];
  let profile: string;
  let shots: readonly [ShotsMeasured, ShotsMeasured];
  try {
    shots = [
      await measureShots(bundle, discard.url, SMALL_SHOTS, AT_ONCE),
      await measureShots(bundle, discard.url, LARGE_SHOTS, AT_ONCE),
    ];
    for (const size of quick ? QUICK_SIZES : SIZES) results.push(await measure(bundle, discard.url, size));
    const { buffers } = FOUR_MEGABYTES;
    profile = await profileUploads(stageOf(FOUR_MEGABYTES), { buffers, atOnce: AT_ONCE, discardUrl: discard.url });
  } finally {
    await stopProcess(discard.child);
  }
  const main = results.find(({ name }) => name === FOUR_MEGABYTES.name) as Measured;
  const [small] = results as [Measured];
  const notes = `${AT_ONCE} concurrent requests. Numbers per second are the best of the rounds. Server, discarding servers, senders and disk share one machine. Two processes send one-shot uploads, both to the discarding server and to the server. Milliseconds are processor time per upload.`;
  return {
    text: [
      shotsTable(shots),
      uploadTable(results),
      latencyTable(results, small),
      closeTable(results),
      profile,
      notes,
    ].join('\n\n'),
    json: {
      server: {
        durableToDiscard: ratioOf(main),
        bytesPerUpload: Math.round(main.bytesPerUpload),
        seatsPerSecond: small.loads.seats.perSecond,
        depositsPerSecond: small.loads.deposits.perSecond,
        keysPerSecond: small.loads.keys.perSecond,
        closesPerSecond: small.closesPerSecond,
        closeMs: main.closeMs,
        smallToDiscard: shots[0].toDiscard,
        smallCpuMs: shots[0].cpuMs,
        largeToDiscard: shots[1].toDiscard,
        largeCpuMs: shots[1].cpuMs,
      },
    },
  };
}

function stageOf({ dimension, bufferSize }: Size): Omit<TestProcessesOptions, 'bundle'> {
  const policy = { dimension, bufferSize, uploadLeaseMs: 3_600_000, openMs: 7_200_000, closeMs: 7_200_000 };
  return { policy, server: { tickMs: 1000, seatMs: 3_600_000 } };
}

async function measure(bundle: TrialBundle, discardUrl: string, size: Size): Promise<Measured> {
  const processes = await TestProcesses.open({ bundle, ...stageOf(size) });
  try {
    const options = { processes, buffers: size.buffers, atOnce: AT_ONCE, discardUrl };
    let bytes = Number.NaN;
    const stopHalfWay = async (uploads: readonly HeldRequest[]): Promise<Load> => {
      bytes = await bytesPerUpload(processes.children.get('server')?.pid ?? 0, uploads);
      return { perSecond: 0, ms: [] };
    };
    // In a process that had no uploads before; the other steps of this round warm everything up.
    await playRound({ ...options, sendUploads: stopHalfWay });
    const rounds: Round[] = [];
    for (let round = 0; round < size.rounds; round++) rounds.push(await playRound(options));
    return bestOf(size.name, rounds, bytes);
  } finally {
    await processes.close();
  }
}

async function startDiscard(bundle: TrialBundle): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  let started: ChildProcess | undefined;
  const url = await startProcess({
    name: 'discard',
    command: [bundle.file('discard')],
    environment: {},
    logFile: join(tmpdir(), `basa-bench-${process.pid}.log`),
    signal: new AbortController().signal,
    onChild: (child) => {
      started = child;
    },
  });
  return { url, child: started as ChildProcess };
}
