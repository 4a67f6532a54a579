/** One batch through a real server and a real authority, with the senders in processes of their own. */
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENGINE, ONE_SHOT_DEFAULTS, type TaskPolicy } from '@basa/protocol/policy';
import { type DeviceServices, TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { bundleTrial } from './fleet.ts';
import { askedSeconds, askProcess, cpuSeconds, memoryMiB } from './measured.ts';
import { LEVEL, numberOf } from './sdk-device.ts';

interface BatchSize {
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
  /** Empty if the sum is exact. */
  readonly problems: readonly string[];
}

/** The input of a process that sends updates. */
export interface SendersWork {
  readonly services: DeviceServices;
  readonly dimension: number;
  /** The number of the first user; each has a token. */
  readonly first: number;
  readonly tokens: readonly string[];
  readonly atOnce: number;
}

const SENDERS = 2;
const TOKENS_AT_ONCE = 1000;
const DAY_MS = 86_400_000;
/** No number of an update is larger: with a clip of this length for each, even 10,000 updates fit into a sum. */
const STEP = 0.001;

/** Version 0 is zeros: version 1 is minus the mean, in the server's own arithmetic. */
function isMeanOf(users: number, parameters: Float32Array): boolean {
  return parameters.every((value, place) => {
    let sum = 0;
    for (let user = 0; user < users; user++) sum += numberOf(user, place) * LEVEL;
    return value === Math.fround(0 - Math.fround(sum * (1 / (LEVEL * users))));
  });
}

export async function runOneBatch(size: BatchSize, tell: (line: string) => void): Promise<OneBatch> {
  const bundle = await bundleTrial();
  const { dimension, users, workers } = size;
  const policy: Partial<TaskPolicy> & Pick<TaskPolicy, 'dimension'> = {
    ...{ dimension, bufferSize: users, minimum: users, level: LEVEL, engine: ENGINE.oneShot },
    clip: STEP * Math.sqrt(dimension),
    oneShot: { ...ONE_SHOT_DEFAULTS, tolerated: 0 },
  };
  const processes = await TestProcesses.open({ bundle, policy, server: { workers, tickMs: 1000 } });
  const senders = Array.from({ length: SENDERS }, () => fork(bundle.file('senders'), [], { stdio: 'inherit' }));
  try {
    const enrolS = await secondsOf(() => enrolAll(processes, senders, size));
    tell(`${users} devices are enrolled: ${enrolS.toFixed(0)} s`);
    const pidOf = (name: 'server' | 'authority'): number => processes.children.get(name)?.pid ?? 0;
    const cpuOf = (name: 'server' | 'authority'): number => cpuSeconds(pidOf(name));
    const before = { server: cpuOf('server'), authority: cpuOf('authority') };
    let took: number[] = [];
    const intakeS = await secondsOf(async () => {
      took = (await Promise.all(senders.map((sender) => askProcess(sender, 'go')))).flat() as number[];
    });
    tell(`all uploads are acknowledged: ${intakeS.toFixed(0)} s`);
    const openS = await secondsOf(() => untilOpen(processes));
    const asked = await askedSeconds(processes);
    const isExact = isMeanOf(users, await processes.server.parameters(processes.task, 1));
    return {
      ...{ ...size, enrolS, intakeS, openS },
      deviceMs: took.sort((a, b) => a - b)[took.length >> 1] ?? Number.NaN,
      inspectS: asked('inspect', 'sum'),
      inspections: asked('inspect', 'count'),
      voteS: asked('vote', 'sum'),
      releaseS: asked('release', 'sum'),
      serverCpuS: cpuOf('server') - before.server,
      authorityCpuS: cpuOf('authority') - before.authority,
      serverMiB: Math.round(memoryMiB(pidOf('server'), 'VmHWM')),
      authorityMiB: Math.round(memoryMiB(pidOf('authority'), 'VmHWM')),
      problems: isExact ? [] : ['the sum is not exact'],
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
