/** The demo: both services as processes, then for each mode a fleet of real clients, MNIST to a target and beyond, and the same run without security. */

import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { trainerFor } from '@basa/client/node';
import type { VersionState } from '@basa/client/operator';
import { allSamples, initialParameters, logisticRegression } from '@basa/learning';
import { loadMnist, type TrainAndTest } from '../data/mnist.ts';
import { bufferWithin, fittingMinimum, MODES, type ModeChoice } from '../flags/task.ts';
import { type LocalServices, startLocalServices } from '../local/local-services.ts';
import { type CommandResult, EXIT_CODE, within } from '../shell/command.ts';
import { counted, plot, table } from '../shell/terminal.ts';
import type { DemoInput } from './demo-flags.ts';
import { type Fleet, type FleetTally, SERVER_STEP, startFleet } from './fleet.ts';
import { type PlainTwin, runPlainTwin, twinVersions } from './plain-twin.ts';

const LOOK_MS = 250;

/** A version that was evaluated. */
type EvaluatedVersion = VersionState & { readonly accuracy: number };

interface DemoProgress {
  readonly mode: ModeChoice;
  readonly versions: readonly EvaluatedVersion[];
  readonly tally: FleetTally;
  readonly seconds: number;
}

export interface DemoResult extends DemoProgress {
  readonly accuracy: number;
  readonly plainAccuracy: number;
  /** `buffers`, `time`: it was given up because all buffers were used, or the time was over. */
  readonly ending: 'reached' | 'buffers' | 'time';
}

interface DemoGoal {
  readonly target: number;
  /** Versions after the target, to show that it stays reached. */
  readonly further: number;
}

export async function trainingDemo(input: DemoInput, folder: string): Promise<CommandResult> {
  const { flags, signal, terminal } = input;
  const modes = flags.mode === undefined ? MODES : [flags.mode];
  for (const mode of modes) bufferWithin(flags.buffer, mode);
  // A device gives at most one update on a version.
  const devices = flags.devices ?? Math.max(24, 2 * flags.buffer);
  within(devices, 'devices', { min: flags.buffer, max: 10_000 });
  terminal.line(`Starting the authority and the server in ${folder} ...`);
  const starting = startLocalServices({ folder, signal, unsafePaperMode: modes.includes('paper') });
  // Loaded while the services start, which are separate processes.
  const loading = loadMnist({ signal }).catch(async (error: unknown) => {
    await (await starting).stop();
    throw error;
  });
  const [services, data] = await Promise.all([starting, loading]);
  const goal = { target: flags.target / 100, further: flags.further };
  const results: DemoResult[] = [];
  try {
    if (services.hasPages) terminal.line(`Watch it: ${services.serverUrl}/`);
    for (const mode of modes) {
      terminal.line(`\n${OPENING[mode]}\nEnrolling ${devices} devices, K = ${flags.buffer}.`);
      const result = await runMode(input, { mode, services, data, goal, devices, folder });
      terminal.line(summaryOf(result, goal));
      results.push(result);
    }
  } finally {
    await services.stop();
  }
  terminal.line(comparisonOf(results));
  const isReached = results.every(({ ending }) => ending === 'reached');
  return { json: jsonOf(results), exitCode: isReached ? EXIT_CODE.fine : EXIT_CODE.failed };
}

const OPENING: Readonly<Record<ModeChoice, string>> = {
  paper:
    "The paper's protocol: one device after the other takes a position, with CP-ABE. UNSAFE, only for comparison: its server can learn updates (docs/threat-model.md).",
  'one-shot': 'The one-shot protocol: each device sends one message; some devices drop out.',
};

interface ModeRun {
  readonly mode: ModeChoice;
  readonly services: LocalServices;
  readonly data: TrainAndTest;
  readonly goal: DemoGoal;
  readonly devices: number;
  readonly folder: string;
}

async function runMode(input: DemoInput, run: ModeRun): Promise<DemoResult> {
  const { buffer: bufferSize, buffers: versions, drop, seed } = input.flags;
  const { mode, services, data, goal, devices, folder } = run;
  const options = { name: `demo ${mode}`, mode, bufferSize, seed, versions, target: goal.target, devices, folder };
  const fleet = await startFleet(
    services,
    {
      ...options,
      ...(mode === 'one-shot' && { minimum: fittingMinimum(bufferSize) }),
      dropShare: drop / 100,
      threads: Math.max(1, Math.min(4, availableParallelism())),
    },
    data,
  );
  const { created, work } = fleet;
  let ended: Omit<DemoResult, 'accuracy' | 'plainAccuracy'>;
  let sums: PlainTwin['versions'];
  try {
    ended = await watch(input, run, fleet);
    sums = await twinVersions(services.server, ended, fleet, input.signal);
  } finally {
    await fleet.stop();
  }
  const trainer = await trainerFor(logisticRegression());
  const plain = runPlainTwin({
    trainer,
    initial: initialParameters(logisticRegression(), seed),
    policy: created.policy,
    serverStep: SERVER_STEP,
    seed,
    versions: sums,
    samplesOf: (n) => ({ dataset: data.train, indices: work.devices[n]?.indices ?? new Uint32Array() }),
  });
  const plainAccuracy = trainer.evaluate(plain, allSamples(data.test)).accuracy ?? Number.NaN;
  return { ...ended, accuracy: newestOf(ended.versions), plainAccuracy };
}

async function watch({ flags, signal, terminal }: DemoInput, { mode, services, goal }: ModeRun, fleet: Fleet) {
  const began = performance.now();
  let shown = 0;
  for (;;) {
    await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    fleet.check();
    const versions = evaluatedOf(await services.server.versions(fleet.created.task));
    const progress = { mode, versions, tally: fleet.tally(), seconds: (performance.now() - began) / 1000 };
    terminal.status(statusOf(progress, goal));
    if (!terminal.isLive && versions.length !== shown) terminal.line(lineOf(progress, goal));
    shown = versions.length;
    if (hasStayed(versions, goal)) return { ...progress, ending: 'reached' as const };
    if (versions.length > flags.buffers) return { ...progress, ending: 'buffers' as const };
    if (progress.seconds > flags.seconds) return { ...progress, ending: 'time' as const };
  }
}

/** Evaluation lags behind the versions: returns those before the first that still waits for it. */
function evaluatedOf(versions: readonly VersionState[]): readonly EvaluatedVersion[] {
  const waiting = versions.findIndex(({ accuracy }) => accuracy === undefined);
  return versions.slice(0, waiting < 0 ? undefined : waiting) as readonly EvaluatedVersion[];
}

/** True if enough versions were made after the first version that reached the target. */
function hasStayed(versions: readonly EvaluatedVersion[], { target, further }: DemoGoal): boolean {
  const reached = versions.findIndex(({ accuracy }) => accuracy >= target);
  return reached >= 0 && versions.length - 1 - reached >= further;
}

/** The usual number of buffers to the target, for the estimate of the remaining time. */
const USUAL_BUFFERS = 10;

/** A plot of the accuracy and two lines, which redraw themselves. */
function statusOf(progress: DemoProgress, goal: DemoGoal): string {
  const { versions, tally, seconds } = progress;
  const updates = tally.accepted.length;
  const pace = (updates / Math.max(1, seconds)).toFixed(1);
  return [
    plotOf(versions, goal.target),
    `accuracy ${percent(newestOf(versions))} of ${percent(goal.target)}   buffers ${versions.length - 1}   ${seconds.toFixed(0)} s${leftOf(progress, goal)}`,
    `updates ${updates} (${pace} a second)   dropped out ${tally.dropped}`,
  ].join('\n');
}

/** One line for each version, if the output is not a terminal. */
function lineOf(progress: DemoProgress, goal: DemoGoal): string {
  const { versions, tally, seconds } = progress;
  const newest = versions.at(-1);
  return `version ${newest?.version}: accuracy ${percent(newestOf(versions))}, ${counted(newest?.accepted ?? 0, 'update')}, ${counted(tally.dropped, 'contribution')} dropped out so far, ${seconds.toFixed(1)} s${leftOf(progress, goal)}`;
}

/** The estimated time to the end, by the pace so far. */
function leftOf({ versions, seconds }: DemoProgress, { target, further }: DemoGoal): string {
  const buffers = versions.length - 1;
  if (buffers < 2) return '';
  const reached = versions.findIndex(({ accuracy }) => accuracy >= target);
  const left = reached < 0 ? Math.max(1, USUAL_BUFFERS - buffers) + further : reached + further - buffers;
  return left <= 0 ? '' : `, about ${Math.ceil((left * seconds) / buffers)} s to go`;
}

/** The largest fall below the best so far, in points. */
function largestDropOf(versions: DemoProgress['versions']): number {
  let [best, drop] = [0, 0];
  for (const { accuracy } of versions) {
    best = Math.max(best, accuracy);
    drop = Math.max(drop, best - accuracy);
  }
  return 100 * drop;
}

/** The line of `--json`: {"paper": {...}, "oneShot": {...}}, or only the one that ran. */
export function jsonOf(results: readonly DemoResult[]): object {
  return Object.fromEntries(
    results.map((result) => [result.mode === 'paper' ? 'paper' : 'oneShot', measuresOf(result)]),
  );
}

/** Contributions are means over those that were accepted. */
function measuresOf({ versions, tally, ...result }: DemoResult) {
  const count = Math.max(1, tally.accepted.length);
  const steps = tally.accepted.flatMap(({ costs }) => Object.values(costs));
  return {
    accuracy: result.accuracy,
    plainAccuracy: result.plainAccuracy,
    largestDrop: largestDropOf(versions),
    buffers: versions.length - 1,
    seconds: result.seconds,
    msPerContribution: steps.reduce((sum, { ms }) => sum + ms, 0) / count,
    bytesPerContribution: steps.reduce((sum, { sent, received }) => sum + sent + received, 0) / count,
    requestsPerContribution: tally.requests / count,
    dropped: tally.dropped,
    accepted: versions.reduce((sum, { accepted }) => sum + accepted, 0),
    reached: result.ending === 'reached',
    accuracies: versions.map(({ accuracy }) => accuracy),
  };
}

export function summaryOf(result: DemoResult, { target, further }: DemoGoal): string {
  const { versions, tally, seconds } = result;
  const buffers = counted(versions.length - 1, 'buffer');
  const first = versions.findIndex(({ accuracy }) => accuracy >= target);
  const verdict =
    result.ending === 'reached'
      ? `Reached ${percent(target)} at buffer ${first}, then ran ${counted(further, 'more buffer')}: ${percent(result.accuracy)} after ${buffers} and ${seconds.toFixed(0)} s`
      : missOf(result, target);
  return [
    plotOf(versions, target),
    verdict,
    `${counted(tally.dropped, 'contribution')} dropped out; every buffer still gave its sum.`,
  ].join('\n');
}

const TITLE: Readonly<Record<ModeChoice, string>> = { paper: 'paper (unsafe)', 'one-shot': 'one-shot' };

/** All runs, beside the same runs without security. */
export function comparisonOf(results: readonly DemoResult[]): string {
  const measures = results.map(measuresOf);
  const row = (title: string, cell: (of: (typeof measures)[number]) => string): readonly string[] => [
    title,
    ...measures.map(cell),
  ];
  return [
    '',
    table([
      ['', ...results.map(({ mode }) => TITLE[mode])],
      row('accuracy', ({ accuracy }) => percent(accuracy)),
      row('accuracy of the same run without security', ({ plainAccuracy }) => percent(plainAccuracy)),
      row('largest drop below the best so far, points', ({ largestDrop }) => largestDrop.toFixed(1)),
      row('buffers', ({ buffers }) => String(buffers)),
      row('seconds', ({ seconds }) => seconds.toFixed(0)),
      row('milliseconds of a contribution', ({ msPerContribution }) => msPerContribution.toFixed(0)),
      row('bytes of a contribution, sent and received', ({ bytesPerContribution }) => bytesPerContribution.toFixed(0)),
      row('requests of a contribution', ({ requestsPerContribution }) => requestsPerContribution.toFixed(0)),
      row('contributions that dropped out', ({ dropped }) => String(dropped)),
    ]),
    '',
    'A contribution is counted from the request for a position (paper) or from the masking (one-shot) to the acknowledgement of',
    'the upload. Its requests include the model and all questions whether there is a position or a place.',
    ...(results.some(({ mode }) => mode === 'paper')
      ? [
          "The paper's protocol is UNSAFE and ran only for comparison: its server can learn updates (docs/threat-model.md).",
        ]
      : []),
    '',
    'Next: `basa dev` starts a server and an authority for your own clients; `basa new my-project` creates your own project.',
  ].join('\n');
}

/** The reason why the target was missed, and the advice. */
function missOf({ ending, versions, accuracy, seconds, tally }: DemoResult, target: number): string {
  const stood = `Did not reach ${percent(target)}: ${percent(accuracy)} after ${counted(versions.length - 1, 'buffer')} and ${seconds.toFixed(0)} s`;
  if (ending === 'buffers')
    return `${stood}. The limit of buffers is used up. Allow more with --buffers, or lower --target.`;
  if (tally.accepted.length === 0)
    return `${stood}. No update was accepted. Run it again with --keep and read server.log and authority.log in its folder.`;
  return `${stood}. This machine was too slow for the time limit. Stop other programs, or allow more time with --seconds.`;
}

function plotOf(versions: DemoProgress['versions'], target: number): string {
  const accuracies = versions.map(({ accuracy }) => accuracy);
  return plot(accuracies, target, percent);
}

function newestOf(versions: DemoProgress['versions']): number {
  return versions.at(-1)?.accuracy ?? 0;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
