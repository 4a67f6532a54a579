/**
 * Many uploads that are ready, sent at once: durable uploads compared with a server that discards the same bytes, and the cost of each step
 * until they are a version.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENGINE, ONE_SHOT_DEFAULTS } from '@basa/protocol/policy';
import { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { bundleTrial, type TrialBundle } from '../trials/fleet.ts';
import { askedSeconds, askProcess, cpuSeconds } from '../trials/measured.ts';
import type { BenchOptions, BenchResult } from './result.ts';
import { type HeldRequest, heldUploads } from './server/held-uploads.ts';
import type { LoadWork } from './server/load-process.ts';
import { formatTable } from './table.ts';

interface Size {
  readonly dimension: number;
  /** Of one batch. */
  readonly uploads: number;
  readonly rounds: number;
}

const SIZES: readonly Size[] = [
  { dimension: 7850, uploads: 300, rounds: 2 },
  { dimension: 1_000_000, uploads: 24, rounds: 2 },
];
const QUICK_SIZES: readonly Size[] = [
  { dimension: 7850, uploads: 12, rounds: 1 },
  { dimension: 1_000_000, uploads: 4, rounds: 1 },
];
const SENDERS = 2;
/** Requests under way, of all senders together. */
const AT_ONCE = 4;
const LOOK_MS = 5;
const QUESTIONS = ['inspect', 'vote', 'release'] as const;

interface Round {
  readonly durablePerSecond: number;
  readonly discardPerSecond: number;
  /** Compared with the discarding server of the same round. */
  readonly toDiscard: number;
  /** Processor time of the server for an upload until the last acknowledgement. Inspection already starts during this time. */
  readonly cpuMs: number;
  /** Of server and authority together, until the version is there. */
  readonly wholeCpuMs: number;
}

interface Measured extends Round, Size {
  /** Uploads that the authority handles in a second, by the question of the server. */
  readonly perSecond: readonly number[];
}

export async function benchServer({ quick }: BenchOptions): Promise<BenchResult> {
  const bundle = await bundleTrial();
  const start = (name: 'discard' | 'load-process'): ChildProcess =>
    fork(bundle.file(name), [], { stdio: 'inherit', serialization: 'advanced' });
  const discard = start('discard');
  const senders = Array.from({ length: SENDERS }, () => start('load-process'));
  try {
    const discardUrl = (await askProcess(discard, 'address')) as string;
    const results: Measured[] = [];
    for (const size of quick ? QUICK_SIZES : SIZES) results.push(await measure(bundle, senders, discardUrl, size));
    return { text: textOf(results), json: { server: results } };
  } finally {
    for (const child of [discard, ...senders]) child.disconnect();
  }
}

async function measure(
  bundle: TrialBundle,
  senders: readonly ChildProcess[],
  discardUrl: string,
  size: Size,
): Promise<Measured> {
  const { dimension, uploads } = size;
  const policy = {
    ...{ dimension, bufferSize: uploads, minimum: uploads, engine: ENGINE.oneShot },
    oneShot: { ...ONE_SHOT_DEFAULTS, tolerated: 0 },
  };
  const processes = await TestProcesses.open({ bundle, policy, server: { tickMs: 1000 } });
  try {
    const played: Round[] = [];
    // The first one warms everything up.
    for (let n = 0; n <= size.rounds; n++) played.push(await playRound(processes, senders, discardUrl, uploads));
    const rounds = played.slice(1);
    const best = rounds.reduce((one, other) => (other.toDiscard > one.toDiscard ? other : one));
    const asked = await askedSeconds(processes);
    return {
      ...{ ...size, ...best },
      cpuMs: Math.min(...rounds.map(({ cpuMs }) => cpuMs)),
      wholeCpuMs: Math.min(...rounds.map(({ wholeCpuMs }) => wholeCpuMs)),
      perSecond: QUESTIONS.map((question) => (played.length * uploads) / asked(question, 'sum')),
    };
  } finally {
    await processes.close();
  }
}

async function playRound(
  processes: TestProcesses,
  senders: readonly ChildProcess[],
  discardUrl: string,
  uploads: number,
): Promise<Round> {
  const { server, task, children } = processes;
  const cpuOf = (...names: readonly string[]): number =>
    names.reduce((sum, name) => sum + cpuSeconds(children.get(name)?.pid ?? 0), 0);
  const { version: before = 0 } = await server.task(task);
  const requests = await heldUploads(processes, uploads);
  const toDiscarding = requests.map((one) => ({ ...one, url: discardUrl }));
  const discardPerSecond = await load(senders, toDiscarding);
  const [began, beganBoth] = [cpuOf('server'), cpuOf('server', 'authority')];
  const durablePerSecond = await load(senders, requests);
  const cpuMs = (1000 * (cpuOf('server') - began)) / uploads;
  while (((await server.task(task)).version ?? 0) <= before) await sleep(LOOK_MS);
  const wholeCpuMs = (1000 * (cpuOf('server', 'authority') - beganBoth)) / uploads;
  return { durablePerSecond, discardPerSecond, toDiscard: durablePerSecond / discardPerSecond, cpuMs, wholeCpuMs };
}

/** Requests a second, timed from the moment when all senders have theirs. */
async function load(senders: readonly ChildProcess[], requests: readonly HeldRequest[]): Promise<number> {
  const { length } = senders;
  const workOf = (n: number): LoadWork => ({
    requests: requests.filter((_, index) => index % length === n),
    atOnce: AT_ONCE / length,
  });
  await Promise.all(senders.map((sender, n) => askProcess(sender, workOf(n))));
  const began = performance.now();
  await Promise.all(senders.map((sender) => askProcess(sender, 'go')));
  return (1000 * requests.length) / (performance.now() - began);
}

function textOf(results: readonly Measured[]): string {
  return [
    formatTable(
      [
        'd',
        'durable/s',
        'node:http/s',
        'ratio',
        'server ms',
        'server + authority ms',
        ...QUESTIONS.map((one) => `${one}/s`),
      ],
      results.map((one) => [
        one.dimension.toLocaleString('en'),
        one.durablePerSecond.toFixed(1),
        one.discardPerSecond.toFixed(1),
        one.toDiscard.toFixed(3),
        one.cpuMs.toFixed(2),
        one.wholeCpuMs.toFixed(2),
        ...one.perSecond.map((rate) => rate.toFixed(0)),
      ]),
    ),
    '',
    `${AT_ONCE} concurrent requests. Numbers per second are the best of the rounds. Server, discarding server, senders and disk share one machine.`,
    `${SENDERS} processes send uploads, both to the discarding server and to the server. Milliseconds are processor time per upload.`,
  ].join('\n');
}
