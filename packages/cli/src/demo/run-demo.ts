/** The demo: both services as processes, a fleet of real clients, MNIST to a target, and the same run without security. */
import { setTimeout as sleep } from 'node:timers/promises';
import { loadMnist } from '@basa/datasets';
import { allSamples, initialParameters, logisticRegression } from '@basa/learning';
import type { LocalServices } from '../local-services.ts';
import { startLocalServices } from '../local-services.ts';
import type { VersionState } from '../operator.ts';
import type { Terminal } from '../terminal.ts';
import { createDemoTask, fleetWork } from './demo-task.ts';
import type { FleetTally } from './fleet.ts';
import { Fleet } from './fleet.ts';
import type { TwinBuffer } from './plain-twin.ts';
import { runPlainTwin } from './plain-twin.ts';
import { demoTrainer } from './trainer.ts';

export interface DemoOptions {
  readonly folder: string;
  readonly devices: number;
  readonly bufferSize: number;
  readonly target: number;
  readonly mostBuffers: number;
  readonly dropShare: number;
  readonly seed: number;
  readonly threads: number;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  onProgress(progress: DemoProgress): void;
}

export interface DemoProgress {
  readonly versions: readonly VersionState[];
  readonly tally: FleetTally;
  readonly seconds: number;
}

export interface DemoResult extends DemoProgress {
  readonly accuracy: number;
  readonly plainAccuracy: number;
  readonly reached: boolean;
}

const LOOK_MS = 250;

export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const { folder, signal, terminal } = options;
  const { train, test } = await loadMnist();
  signal.throwIfAborted();
  terminal.line(`starting authority and server in ${folder} ...`);
  const services = await startLocalServices({ folder, signal });
  try {
    const { seed, bufferSize, target, mostBuffers } = options;
    const stop = { accuracy: target, version: mostBuffers };
    const { task, policy } = await createDemoTask(services, { name: 'demo', bufferSize, seed, stop }, test);
    const work = await fleetWork(services, options, task, train);
    terminal.line(`enrolling ${options.devices} devices; sealed mode, CP-ABE, K = ${options.bufferSize}`);
    if (services.hasPages) terminal.line(`watch it: ${services.serverUrl}/`);
    const began = performance.now();
    const seconds = (): number => (performance.now() - began) / 1000;
    const fleet = new Fleet(work, options.threads);
    let ended: DemoProgress & { readonly reached: boolean };
    try {
      ended = await watch(services, task, fleet, options, seconds);
    } finally {
      await fleet.stop();
    }
    const trainer = demoTrainer();
    const plain = runPlainTwin({
      trainer,
      initial: initialParameters(logisticRegression(), options.seed),
      training: policy.training,
      seed: options.seed,
      staleness: policy.staleness,
      buffers: await twinBuffers(services, ended),
      samplesOf: (device) => ({ dataset: train, indices: work.devices[device]?.indices ?? new Uint32Array() }),
    });
    const plainAccuracy = trainer.evaluate(plain, allSamples(test)).accuracy;
    return { ...ended, accuracy: ended.versions.at(-1)?.accuracy ?? 0, plainAccuracy };
  } finally {
    await services.stop();
  }
}

async function watch(
  { server }: LocalServices,
  task: string,
  fleet: Fleet,
  { target, signal, onProgress }: DemoOptions,
  seconds: () => number,
): Promise<DemoProgress & { readonly reached: boolean }> {
  for (;;) {
    await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    fleet.check();
    const { state } = await server.task(task);
    const versions = (await server.versions(task)).filter(({ accuracy }) => accuracy !== undefined);
    const progress = { versions, tally: fleet.tally, seconds: seconds() };
    onProgress(progress);
    if (state === 'finished') return { ...progress, reached: (versions.at(-1)?.accuracy ?? 0) >= target };
  }
}

/** Which updates made which version, by the server's books and the fleet's. */
async function twinBuffers(
  { server }: LocalServices,
  { versions, tally }: DemoProgress,
): Promise<readonly TwinBuffer[]> {
  return Promise.all(
    versions.slice(1).map(async ({ ctx }) => {
      const buffer = await server.buffer(ctx);
      const updates = tally.accepted.filter((news) => news.ctx === ctx && buffer.accepted.includes(news.slot));
      if (updates.length !== buffer.accepted.length)
        throw new Error(`a sum of ${buffer.accepted.length} updates, of which the fleet knows ${updates.length}`);
      return { version: buffer.version, updates };
    }),
  );
}
