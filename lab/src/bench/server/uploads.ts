/** Many uploads that are ready, sent by processes of their own, and the steps until they are a version. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ENGINE, ONE_SHOT_DEFAULTS } from '@basa/protocol';
import { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import type { TrialBundle } from '../../trials/bundle.ts';
import { askedSeconds } from '../../trials/large/asked-seconds.ts';
import { formatTable } from '../table.ts';
import { HeldDevices } from './held-devices.ts';
import { LoadProcesses } from './load-processes.ts';
import { cpuSeconds } from './processor.ts';

export interface Size {
  readonly name: string;
  readonly dimension: number;
  /** Of one batch. */
  readonly uploads: number;
  readonly rounds: number;
}

export interface Measured {
  readonly name: string;
  readonly durablePerSecond: number;
  readonly discardPerSecond: number;
  /** The best round, each compared with the discarding server of the same round. */
  readonly toDiscard: number;
  /** Processor time of the server until the last acknowledgement. Inspection already starts during this time. */
  readonly cpuMs: number;
  /** Of server and authority together, until the version is there. */
  readonly wholeCpuMs: number;
  readonly perSecond: Readonly<Record<Question, number>>;
}

const QUESTIONS = ['inspect', 'vote', 'release'] as const;
type Question = (typeof QUESTIONS)[number];
const SENDERS = 2;
const LOOK_MS = 5;

interface Round extends Omit<Measured, 'name' | 'perSecond'> {}

export async function measureUploads(
  bundle: TrialBundle,
  discardUrl: string,
  { name, dimension, uploads, rounds }: Size,
  atOnce: number,
): Promise<Measured> {
  const policy = {
    ...{ dimension, bufferSize: uploads, minimum: uploads, engine: ENGINE.oneShot },
    oneShot: { ...ONE_SHOT_DEFAULTS, tolerated: 0 },
  };
  const processes = await TestProcesses.open({ bundle, policy, server: { tickMs: 1000 } });
  const senders = new LoadProcesses(bundle.file('load-process'), { count: SENDERS, atOnce });
  try {
    const played: Round[] = [];
    // The first one warms everything up.
    for (let round = 0; round <= rounds; round++) played.push(await playRound(processes, senders, discardUrl, uploads));
    const counted = played.slice(1);
    const best = counted.reduce((one, other) => (other.toDiscard > one.toDiscard ? other : one));
    const least = (key: 'cpuMs' | 'wholeCpuMs'): number => Math.min(...counted.map((round) => round[key]));
    const asked = await askedSeconds(processes);
    const rate = (question: Question): number => (played.length * uploads) / asked(question, 'sum');
    const perSecond = { inspect: rate('inspect'), vote: rate('vote'), release: rate('release') };
    return { ...best, name, cpuMs: least('cpuMs'), wholeCpuMs: least('wholeCpuMs'), perSecond };
  } finally {
    senders.close();
    await processes.close();
  }
}

async function playRound(
  processes: TestProcesses,
  senders: LoadProcesses,
  discardUrl: string,
  uploads: number,
): Promise<Round> {
  const { server, task } = processes;
  const pidOf = (name: 'server' | 'authority'): number => processes.children.get(name)?.pid ?? 0;
  const cpuOf = (...names: readonly ('server' | 'authority')[]): number => cpuSeconds(names.map(pidOf), 'alone');
  const { version: before = 0 } = await server.task(task);
  const devices = new HeldDevices(processes);
  await devices.enrol(uploads);
  const requests = await devices.uploads();
  const discard = await senders.load(requests.map((one) => ({ ...one, url: discardUrl })));
  const [began, beganBoth] = [cpuOf('server'), cpuOf('server', 'authority')];
  const durable = await senders.load(requests);
  const cpuMs = (1000 * (cpuOf('server') - began)) / uploads;
  while (((await server.task(task)).version ?? 0) <= before) await sleep(LOOK_MS);
  const wholeCpuMs = (1000 * (cpuOf('server', 'authority') - beganBoth)) / uploads;
  await devices.close();
  const toDiscard = durable.perSecond / discard.perSecond;
  return { durablePerSecond: durable.perSecond, discardPerSecond: discard.perSecond, toDiscard, cpuMs, wholeCpuMs };
}

export function uploadsTable(results: readonly Measured[]): string {
  const head = [
    ...['d', 'durable/s', 'node:http/s', 'ratio', 'server ms', 'server + authority ms'],
    ...QUESTIONS.map((question) => `${question}/s`),
  ];
  return formatTable(
    head,
    results.map((one) => [
      one.name,
      one.durablePerSecond.toFixed(1),
      one.discardPerSecond.toFixed(1),
      one.toDiscard.toFixed(3),
      one.cpuMs.toFixed(2),
      one.wholeCpuMs.toFixed(2),
      ...QUESTIONS.map((question) => one.perSecond[question].toFixed(0)),
    ]),
  );
}
