/** The demo: both services as processes, then for each mode a fleet of real clients, MNIST to a target and beyond, and the same run without security. */

import { setTimeout as sleep } from 'node:timers/promises';
import { trainerFor } from '@basa/client/node';
import type { VersionState } from '@basa/client/operator';
import { allSamples, type Dataset, initialParameters, logisticRegression } from '@basa/learning';
import { loadMnist } from '../data/mnist.ts';
import { fittingMinimum, type ModeChoice } from '../flags/task.ts';
import { type LocalServices, startLocalServices } from '../local/local-services.ts';
import type { Terminal } from '../shell/terminal.ts';
import { createDemoTask, fleetWork, SERVER_STEP } from './demo-task.ts';
import { Fleet, type FleetTally } from './fleet.ts';
import { runPlainTwin, twinVersions } from './plain-twin.ts';

export interface DemoOptions {
  readonly folder: string;
  /** In this order. */
  readonly modes: readonly ModeChoice[];
  readonly devices: number;
  readonly bufferSize: number;
  readonly target: number;
  /** Versions after the target, to show that it stays reached. */
  readonly further: number;
  readonly maxBuffers: number;
  /** For each mode. */
  readonly maxSeconds: number;
  /** Of the one-shot fleet. */
  readonly dropShare: number;
  readonly seed: number;
  readonly threads: number;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  onProgress(progress: DemoProgress): void;
  onEnd(result: DemoResult): void;
}

/** A version that was evaluated. */
type EvaluatedVersion = VersionState & { readonly accuracy: number };

export interface DemoProgress {
  readonly mode: ModeChoice;
  readonly versions: readonly EvaluatedVersion[];
  readonly tally: FleetTally;
  readonly seconds: number;
}

/** `buffers`, `time`: it was given up because all buffers were used, or the time was over. */
type DemoEnding = 'reached' | 'buffers' | 'time';

export interface DemoResult extends DemoProgress {
  readonly accuracy: number;
  readonly plainAccuracy: number;
  readonly ending: DemoEnding;
}

const LOOK_MS = 250;

export async function runDemo(options: DemoOptions): Promise<readonly DemoResult[]> {
  const { folder, modes, signal, terminal } = options;
  terminal.line(`Starting the authority and the server in ${folder} ...`);
  const starting = startLocalServices({ folder, signal, unsafePaperMode: modes.includes('paper') });
  // Loaded while the services start, which are separate processes.
  const loading = loadMnist({ signal }).catch(async (error: unknown) => {
    await (await starting).stop();
    throw error;
  });
  const [services, data] = await Promise.all([starting, loading]);
  try {
    if (services.hasPages) terminal.line(`Watch it: ${services.serverUrl}/`);
    const results: DemoResult[] = [];
    for (const mode of modes) {
      const result = await runMode(mode, services, data, options);
      options.onEnd(result);
      results.push(result);
    }
    return results;
  } finally {
    await services.stop();
  }
}

const OPENING: Readonly<Record<ModeChoice, string>> = {
  paper:
    "The paper's protocol: one device after the other takes a position, with CP-ABE. UNSAFE, only for comparison: its server can learn updates (docs/threat-model.md).",
  'one-shot': 'The one-shot protocol: each device sends one message; some devices drop out.',
};

async function runMode(
  mode: ModeChoice,
  services: LocalServices,
  { train, test }: { readonly train: Dataset; readonly test: Dataset },
  options: DemoOptions,
): Promise<DemoResult> {
  const { seed, bufferSize, maxBuffers, target, terminal } = options;
  terminal.line(`\n${OPENING[mode]}\nEnrolling ${options.devices} devices, K = ${bufferSize}.`);
  const choice = { name: `demo ${mode}`, mode, bufferSize, seed, stop: { version: maxBuffers }, target };
  const minimum = mode === 'one-shot' ? { minimum: fittingMinimum(bufferSize) } : {};
  const { task, policy } = await createDemoTask(services, { ...choice, ...minimum }, test);
  const work = await fleetWork(services, { ...options, mode }, task, train);
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  const fleet = new Fleet(work, options.threads);
  let ended: Omit<DemoProgress, 'mode'> & { readonly ending: DemoEnding };
  try {
    ended = await watch(mode, services, task, fleet, options, seconds);
  } finally {
    await fleet.stop();
  }
  const trainer = await trainerFor(logisticRegression());
  const plain = runPlainTwin({
    trainer,
    initial: initialParameters(logisticRegression(), seed),
    policy,
    serverStep: SERVER_STEP,
    seed,
    versions: await twinVersions(services.server, {
      ...{ task, mode, versions: ended.versions, accepted: fleet.tally.accepted },
    }),
    samplesOf: (device) => ({ dataset: train, indices: work.devices[device]?.indices ?? new Uint32Array() }),
  });
  const plainAccuracy = trainer.evaluate(plain, allSamples(test)).accuracy ?? Number.NaN;
  return { ...ended, mode, accuracy: ended.versions.at(-1)?.accuracy ?? 0, plainAccuracy };
}

async function watch(
  mode: ModeChoice,
  { server }: LocalServices,
  task: string,
  fleet: Fleet,
  options: DemoOptions,
  seconds: () => number,
): Promise<Omit<DemoProgress, 'mode'> & { readonly ending: DemoEnding }> {
  const { signal, onProgress, maxBuffers, maxSeconds } = options;
  for (;;) {
    await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    fleet.check();
    const versions = evaluatedOf(await server.versions(task));
    const progress = { mode, versions, tally: fleet.tally, seconds: seconds() };
    onProgress(progress);
    if (hasStayed(versions, options)) return { ...progress, ending: 'reached' };
    if (versions.length > maxBuffers) return { ...progress, ending: 'buffers' };
    if (progress.seconds > maxSeconds) return { ...progress, ending: 'time' };
  }
}

/** Evaluation lags behind the versions: returns those before the first that still waits for it. */
function evaluatedOf(versions: readonly VersionState[]): readonly EvaluatedVersion[] {
  const waiting = versions.findIndex(({ accuracy }) => accuracy === undefined);
  return versions.slice(0, waiting < 0 ? undefined : waiting) as readonly EvaluatedVersion[];
}

/** True if enough versions were made after the first version that reached the target. */
function hasStayed(
  versions: readonly EvaluatedVersion[],
  { target, further }: Pick<DemoOptions, 'target' | 'further'>,
): boolean {
  const reached = versions.findIndex(({ accuracy }) => accuracy >= target);
  return reached >= 0 && versions.length - 1 - reached >= further;
}
