/** Batches without end: devices that drop out, repeat themselves and lie, services that are restarted; every sum is checked. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Role } from '@basa/cli/internal/local/service-process.ts';
import { randomStream } from '@basa/learning';
import { bundleProcesses } from '@basa/testkit/processes/bundle.ts';
import { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { oneShotLines } from '../one-shot.ts';
import { emptyTally, SoakDevice, type SoakWork, type Tally } from './device.ts';
import { type Life, longestLives, restartsAt } from './lives.ts';
import { type Sample, sampleOf } from './samples.ts';
import { ShotSums } from './shot-sums.ts';

export interface SoakOptions {
  readonly buffers: number;
  readonly seed: number;
  /** 10 by default, of which one lies, in batches of 4. */
  readonly devices?: number;
  readonly liars?: number;
  readonly bufferSize?: number;
  /** The most restarts of services; 8 by default. */
  readonly restarts?: number;
  onSample?(sample: Sample): void;
}

export interface SoakReport extends Tally {
  readonly buffers: number;
  readonly opened: number;
  readonly quarantined: number;
  readonly restarts: number;
  /** Versions whose sum is not that of the updates they are said to hold. */
  readonly inexact: number;
  readonly problems: readonly string[];
  readonly lives: readonly Life[];
  readonly samples: readonly Sample[];
}

const DEFAULTS = { devices: 10, liars: 1, bufferSize: 4 } as const;
const DIMENSION = 256;
const STALL_MS = 500;
const LOOK_MS = 50;
const SAMPLES = 100;

export async function runSoak({
  buffers,
  seed,
  restarts: most,
  devices: count = DEFAULTS.devices,
  liars = DEFAULTS.liars,
  bufferSize = DEFAULTS.bufferSize,
  onSample = () => {},
}: SoakOptions): Promise<SoakReport> {
  const sizes = { dimension: DIMENSION, bufferSize, minimum: Math.ceil(bufferSize / 2) };
  const policy = { ...sizes, uploadLeaseMs: 5000, ...oneShotLines() };
  const bundle = await bundleProcesses();
  const processes = await TestProcesses.open({ bundle, policy, specification: { stallMs: STALL_MS } });
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  const tally = emptyTally();
  const chance = randomStream(seed, 'soak');
  const work: SoakWork = { processes, chance, offered: [], tally, latencies: [], signal: ending.signal };
  const sums = new ShotSums(work);
  try {
    const tokens = await processes.authority.tokens(processes.task, count, Date.now() + 86_400_000);
    const devices = tokens.map((token, n) => new SoakDevice(work, n < liars).live(token));
    const samples: Sample[] = [];
    const planned = restartsAt(buffers, most);
    const lives = { server: 0, authority: 0 };
    let restarts = 0;
    for (let ended = 0; ended < buffers; ) {
      await sleep(LOOK_MS);
      ended = (await sums.endings()).length;
      if (ended >= (samples.length * buffers) / SAMPLES) {
        samples.push(sampleOf(processes, lives, ended, work.latencies));
        onSample(samples.at(-1) as Sample);
      }
      if (ended >= (planned[restarts] ?? Number.POSITIVE_INFINITY)) lives[await restart(processes, restarts++)]++;
    }
    ending.abort();
    await Promise.all(devices);
    const versions = (await processes.server.versions(processes.task)).length - 1;
    const endings = await sums.endings();
    const quarantined = endings.filter((status) => status === 'quarantined').length;
    const wrong = await sums.inexact();
    const problems = wrong.map((version) => `version ${version} is not its sum`);
    return {
      buffers: endings.length,
      opened: versions - quarantined,
      quarantined,
      restarts,
      ...tally,
      inexact: wrong.length,
      problems,
      lives: longestLives(samples),
      samples,
    };
  } finally {
    ending.abort();
    await processes.close();
  }
}

/** In turn: the server in order, the server by SIGKILL, the authority in order, the authority by SIGKILL. */
async function restart(processes: TestProcesses, n: number): Promise<Role> {
  const role = n % 4 < 2 ? 'server' : 'authority';
  if (n % 2 === 1) processes.children.get(role)?.kill('SIGKILL');
  await processes.stop(role);
  await processes.start(role);
  return role;
}
