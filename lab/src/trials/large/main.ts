/**
 * `npm run lab -- trial large [--dimension N] [--users K] [--workers N] [--json]`: one buffer of large vectors through real
 * processes. The sum must be exact, and the server's memory must not grow with the vectors.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';

const { values } = parseArgs({
  options: {
    dimension: { type: 'string', default: '50000000' },
    users: { type: 'string', default: '10' },
    workers: { type: 'string', default: '2' },
    ...SWITCHES,
  },
});
const [dimension, users, workers] = [values.dimension, values.users, values.workers].map(Number) as [
  number,
  number,
  number,
];
/** Long enough for vectors that take minutes: nobody drops out here. */
const HOUR_MS = 3_600_000;
const LEVEL = 2 ** 16;

if (values.help) {
  console.log(
    'npm run lab -- trial large [--dimension N] [--users K] [--workers N] [--json]\n\nPeak memory of the server process for one buffer of K vectors of N numbers, and whether the sum is exact.',
  );
} else if (![dimension, users, workers].every((n) => Number.isSafeInteger(n) && n > 0) || users < 3) {
  console.error('--dimension, --users (at least 3) and --workers take whole numbers, for example --dimension 1000000');
  process.exitCode = 2;
} else {
  await run();
}

async function run(): Promise<void> {
  const { bundleProcesses } = await import('@basa/testkit/processes/bundle.ts');
  const { TestProcesses } = await import('@basa/testkit/processes/test-processes.ts');
  const bundle = await bundleProcesses();
  const policy = {
    dimension,
    bufferSize: users,
    minimum: users,
    level: LEVEL,
    uploadLeaseMs: HOUR_MS,
    openMs: HOUR_MS,
    closeMs: HOUR_MS,
  };
  const processes = await TestProcesses.open({ bundle, policy, server: { workers } });
  try {
    const before = peakMiB(processes);
    for (let user = 0; user < users; user++) {
      const took = await contribute(processes, user);
      console.log(`user ${user + 1} of ${users}: ${took.toFixed(0)} s, server at most ${peakMiB(processes)} MiB`);
    }
    await untilIncluded(processes);
    const result = {
      dimension,
      users,
      workers,
      vectorMiB: mebibytes(4 * dimension),
      idleMiB: before,
      peakMiB: peakMiB(processes),
      exact: await isExact(processes),
    };
    console.log(
      `the sum is ${result.exact ? 'exact' : 'WRONG'}; vectors of ${result.vectorMiB} MiB, server at most ${result.peakMiB} MiB (${before} before)`,
    );
    if (values.json) console.log(JSON.stringify(result));
    process.exitCode = result.exact ? 0 : 1;
  } finally {
    await processes.close();
  }
}

/** Whole numbers of quantiser steps, another pattern for each user: nothing is rounded. */
function numberOf(user: number, place: number): number {
  return (((place + 7 * user) % 101) - 50) / LEVEL;
}

async function contribute(processes: TestProcesses, user: number): Promise<number> {
  const { BasaClient } = await import('@basa/client/node');
  const { urls, task, authorityKey, folder } = processes;
  const [token = ''] = await processes.authority.tokens(task, 1, Date.now() + HOUR_MS);
  const identity = join(folder, `device-${user}`);
  const client = await BasaClient.connect({ ...urls, task, authorityKey, token, identity, pieceBytes: 64 << 20 });
  try {
    const start = performance.now();
    const delta = Float32Array.from({ length: dimension }, (_, place) => numberOf(user, place));
    const result = await client.contribute(delta, { trainedOn: 0 });
    if (result.kind !== 'accepted') throw new Error(`user ${user} was rejected: ${result.reason}`);
    return (performance.now() - start) / 1000;
  } finally {
    await client.close();
  }
}

async function untilIncluded({ server, task }: TestProcesses): Promise<void> {
  while ((await server.versions(task)).length < 2) await new Promise((resolve) => setTimeout(resolve, 500));
}

/** Version 0 is zeros: version 1 is minus the mean, in the server's own arithmetic. */
async function isExact({ server, task }: TestProcesses): Promise<boolean> {
  const parameters = await server.parameters(task, 1);
  return parameters.every((value, place) => {
    let sum = 0;
    for (let user = 0; user < users; user++) sum += numberOf(user, place) * LEVEL;
    return value === Math.fround(0 - Math.fround(sum * (1 / (LEVEL * users))));
  });
}

/** The most memory the process ever held at once, all its threads together. */
function peakMiB({ children }: TestProcesses): number {
  const status = readFileSync(`/proc/${children.get('server')?.pid}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024);
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
