/** One batch through a real server and a real authority, with the senders in processes of their own. */
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENGINE, ONE_SHOT_DEFAULTS, type TaskPolicy } from '@basa/protocol/policy';
import { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { askProcess } from '../ask-process.ts';
import { bundleTrial } from '../bundle.ts';
import { askedSeconds } from './asked-seconds.ts';
import { isMeanOf, LEVEL, type SendersWork } from './numbers.ts';
import { cpuSeconds } from './processor.ts';

export interface BatchSize {
  readonly dimension: number;
  readonly users: number;
  readonly workers: number;
  /** The number of devices that contribute at the same time. */
  readonly atOnce: number;
}

/** Seconds by the clock, unless they are called processor seconds. */
export interface OneBatch extends BatchSize {
  readonly enrolS: number;
  /** The time until every upload is acknowledged. Inspection runs during this time. */
  readonly intakeS: number;
  /** Of one device: model, statements and upload. */
  readonly deviceMs: number;
  readonly inspectS: number;
  readonly inspections: number;
  readonly voteS: number;
  readonly releaseS: number;
  /** From the last acknowledgement to the version. */
  readonly openS: number;
  readonly serverCpuS: number;
  readonly authorityCpuS: number;
  readonly serverMiB: number;
  readonly authorityMiB: number;
  readonly exact: boolean;
}

const SENDERS = 2;
const TOKENS_AT_ONCE = 1000;
const DAY_MS = 86_400_000;

export async function runOneBatch(size: BatchSize): Promise<OneBatch> {
  const bundle = await bundleTrial();
  const { dimension, users, workers } = size;
  const policy: Partial<TaskPolicy> & Pick<TaskPolicy, 'dimension'> = {
    ...{ dimension, bufferSize: users, minimum: users, level: LEVEL, engine: ENGINE.oneShot },
    oneShot: { ...ONE_SHOT_DEFAULTS, tolerated: 0 },
  };
  const processes = await TestProcesses.open({ bundle, policy, server: { workers, tickMs: 1000 } });
  const senders = Array.from({ length: SENDERS }, () => fork(bundle.file('senders'), [], { stdio: 'inherit' }));
  try {
    const enrolS = await secondsOf(() => enrolAll(processes, senders, size));
    console.log(`${users} devices are enrolled: ${enrolS.toFixed(0)} s`);
    const pidOf = (name: 'server' | 'authority'): number => processes.children.get(name)?.pid ?? 0;
    const cpuOf = (name: 'server' | 'authority'): number => cpuSeconds(pidOf(name));
    const before = { server: cpuOf('server'), authority: cpuOf('authority') };
    let took: number[] = [];
    const intakeS = await secondsOf(async () => {
      took = (await Promise.all(senders.map((sender) => askProcess(sender, 'go')))).flat() as number[];
    });
    console.log(`all uploads are acknowledged: ${intakeS.toFixed(0)} s`);
    const openS = await secondsOf(() => untilOpen(processes));
    const asked = await askedSeconds(processes);
    return {
      ...{ ...size, enrolS, intakeS, openS },
      deviceMs: took.sort((a, b) => a - b)[took.length >> 1] ?? Number.NaN,
      inspectS: asked('inspect', 'sum'),
      inspections: asked('inspect', 'count'),
      voteS: asked('vote', 'sum'),
      releaseS: asked('release', 'sum'),
      serverCpuS: cpuOf('server') - before.server,
      authorityCpuS: cpuOf('authority') - before.authority,
      serverMiB: peakMiB(pidOf('server')),
      authorityMiB: peakMiB(pidOf('authority')),
      exact: isMeanOf(users, await processes.server.parameters(processes.task, 1)),
    };
  } finally {
    for (const sender of senders) sender.disconnect();
    await processes.close();
  }
}

async function enrolAll(
  { authority, task, services }: TestProcesses,
  senders: readonly ChildProcess[],
  { users, dimension, atOnce }: BatchSize,
): Promise<void> {
  const tokens: string[] = [];
  for (let left = users; left > 0; left -= TOKENS_AT_ONCE)
    tokens.push(...(await authority.tokens(task, Math.min(left, TOKENS_AT_ONCE), Date.now() + DAY_MS)));
  const share = Math.ceil(users / senders.length);
  const atOncePerSender = Math.ceil(atOnce / senders.length);
  await Promise.all(
    senders.map((sender, n) => {
      const own = tokens.slice(n * share, (n + 1) * share);
      const work: SendersWork = { services, dimension, first: n * share, tokens: own, atOnce: atOncePerSender };
      return askProcess(sender, work);
    }),
  );
}

async function untilOpen({ server, task }: TestProcesses): Promise<void> {
  while ((await server.versions(task)).length < 2) await sleep(100);
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

/** The peak memory of the process with all its threads. */
function peakMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024);
}
