/** The server under load: durable uploads beside node:http and bare TCP that discard, deposits, keys, closes, memory. */
import type { ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess, stopProcess } from '../packages/cli/src/service-process.ts';
import type { Bundle } from '../scripts/processes/bundle.ts';
import { bundleProcesses } from '../scripts/processes/bundle.ts';
import { Stage } from '../scripts/processes/stage.ts';
import type { BenchResult } from './result.ts';
import { HeldDevices } from './server/held-devices.ts';
import type { Load } from './server/load.ts';
import { loadHttp, loadTcp, percentile } from './server/load.ts';
import { bytesPerUpload } from './server/memory.ts';
import { formatTable } from './table.ts';

interface Size {
  readonly name: string;
  readonly dimension: number;
  /** Buffers, one a round: each round sends its uploads to server, node:http and TCP in turn. */
  readonly rounds: number;
  readonly bufferSize: number;
}

const SIZES: readonly Size[] = [
  { name: '7,850', dimension: 7850, rounds: 5, bufferSize: 12 },
  { name: '100k', dimension: 100_000, rounds: 5, bufferSize: 12 },
  { name: '1M', dimension: 1_000_000, rounds: 5, bufferSize: 12 },
  { name: '10M', dimension: 10_000_000, rounds: 2, bufferSize: 4 },
];
const FOUR_MEGABYTES = '1M';
const AT_ONCE = 4;
const LOOK_MS = 2;

interface Measured {
  readonly durable: Load;
  readonly discard: Load;
  readonly tcp: Load;
  readonly deposits: Load;
  readonly keys: Load;
  readonly closeMs: number;
  readonly bytesPerUpload: number;
}

export async function benchServer(): Promise<BenchResult> {
  const bundle = await bundleProcesses();
  const discard = await startDiscard(bundle);
  const results: [Size, Measured][] = [];
  try {
    for (const size of SIZES) results.push([size, await measure(bundle, discard.url, size)]);
  } finally {
    await stopProcess(discard.child);
  }
  const [, main] = results.find(([{ name }]) => name === FOUR_MEGABYTES) as [Size, Measured];
  const [, small] = results[0] as [Size, Measured];
  return {
    text: `${uploadTable(results)}\n\n${otherTable(small)}\n\n${AT_ONCE} requests at once; best of the rounds; server, discarders and senders share one machine.`,
    json: {
      server: {
        durableToDiscard: main.durable.perSecond / main.discard.perSecond,
        bytesPerUpload: Math.round(main.bytesPerUpload),
        depositsPerSecond: small.deposits.perSecond,
        keysPerSecond: small.keys.perSecond,
        closeMs: main.closeMs,
      },
    },
  };
}

async function measure(bundle: Bundle, discardUrl: string, size: Size): Promise<Measured> {
  const { dimension, rounds, bufferSize } = size;
  const policy = { dimension, bufferSize, uploadLeaseMs: 3_600_000, openMs: 7_200_000, closeMs: 7_200_000 };
  const stage = await Stage.open({ bundle, policy, server: { tickMs: 1000, seatMs: 3_600_000 } });
  const all: Measured[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      const devices = new HeldDevices(stage);
      await devices.enrol(bufferSize);
      const deposits = await loadHttp(await devices.until(/deposits$/), AT_ONCE);
      const keys = await loadHttp(await devices.until(/keys$/), AT_ONCE);
      const uploads = await devices.until(/upload$/);
      const dropped = uploads.map((one) => ({ ...one, url: discardUrl }));
      const discard = await loadHttp(dropped, AT_ONCE);
      const port = Number(new URL(discardUrl).searchParams.get('tcp'));
      const tcp = await loadTcp(
        port,
        uploads.map(({ body }) => body),
        AT_ONCE,
      );
      const pid = stage.children.server?.pid ?? 0;
      // The first round measures memory instead of speed: its uploads stop half way, in a process that had none before.
      const bytes = round === 0 ? await bytesPerUpload(pid, uploads) : Number.NaN;
      const durable = round === 0 ? { perSecond: 0, ms: [] } : await loadHttp(uploads, AT_ONCE);
      const began = performance.now();
      while (((await stage.server.task(stage.task)).version ?? 0) <= round) await sleep(LOOK_MS);
      all.push({ durable, discard, tcp, deposits, keys, closeMs: performance.now() - began, bytesPerUpload: bytes });
      await devices.close();
    }
  } finally {
    await stage.close();
  }
  const best = (of: 'durable' | 'discard' | 'tcp' | 'deposits' | 'keys'): Load =>
    all.map((one) => one[of]).reduce((a, b) => (b.perSecond > a.perSecond ? b : a));
  return {
    durable: best('durable'),
    discard: best('discard'),
    tcp: best('tcp'),
    deposits: best('deposits'),
    keys: best('keys'),
    closeMs: Math.min(...all.map(({ closeMs }) => closeMs)),
    bytesPerUpload: all[0]?.bytesPerUpload ?? Number.NaN,
  };
}

async function startDiscard(bundle: Bundle): Promise<{ readonly url: string; readonly child: ChildProcess }> {
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

function uploadTable(results: readonly [Size, Measured][]): string {
  const rows = results.map(([{ name }, { durable, discard, tcp, ...other }]) => [
    name,
    durable.perSecond.toFixed(1),
    discard.perSecond.toFixed(1),
    tcp.perSecond.toFixed(1),
    (durable.perSecond / discard.perSecond).toFixed(3),
    percentile(durable.ms, 0.5).toFixed(1),
    percentile(durable.ms, 0.95).toFixed(1),
    (other.bytesPerUpload / 1e6).toFixed(2),
    other.closeMs.toFixed(0),
  ]);
  const head = ['d', 'durable/s', 'node:http/s', 'TCP/s', 'ratio', 'p50 ms', 'p95 ms', 'MB an upload', 'close ms'];
  return formatTable(head, rows);
}

function otherTable({ deposits, keys }: Measured): string {
  const row = (name: string, { perSecond, ms }: Load): string[] => [
    name,
    perSecond.toFixed(1),
    percentile(ms, 0.5).toFixed(1),
    percentile(ms, 0.95).toFixed(1),
  ];
  return formatTable(['K = 12', 'a second', 'p50 ms', 'p95 ms'], [row('deposits', deposits), row('keys', keys)]);
}
