/**
 * `npm run lab -- trial large [--mode sealed|one-shot] [--dimension N] [--users K] [--workers N] [--json]`: one large sum through real
 * processes. It must be exact. In sealed mode the vectors are long, and the server's memory must not grow with them; in one-shot mode
 * the users are many.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { isMeanOf, LEVEL, numberOf } from './numbers.ts';

const { values } = parseArgs({
  options: {
    mode: { type: 'string', default: 'sealed' },
    dimension: { type: 'string' },
    users: { type: 'string' },
    workers: { type: 'string', default: '2' },
    ...SWITCHES,
  },
});
const isOneShot = values.mode === 'one-shot';
const DEFAULTS = isOneShot ? { dimension: '7850', users: '10000' } : { dimension: '50000000', users: '10' };
const { dimension: chosenDimension = DEFAULTS.dimension, users: chosenUsers = DEFAULTS.users } = values;
const [dimension, users, workers] = [chosenDimension, chosenUsers, values.workers].map(Number) as [
  number,
  number,
  number,
];
/** Long enough for vectors that take minutes, so that no device drops out. */
const HOUR_MS = 3_600_000;

if (values.help) {
  console.log(
    'npm run lab -- trial large [--mode sealed|one-shot] [--dimension N] [--users K] [--workers N] [--json]\n\nMeasures the peak memory of the server for one sum of K vectors with N numbers, and checks that the sum is exact. In one-shot mode it also measures the time of each step.',
  );
} else if (!isOneShot && values.mode !== 'sealed') {
  console.error('--mode takes sealed or one-shot');
  process.exitCode = 2;
} else if (![dimension, users, workers].every((n) => Number.isSafeInteger(n) && n > 0) || users < 3) {
  console.error('--dimension, --users (at least 3) and --workers take whole numbers, for example --dimension 1000000');
  process.exitCode = 2;
} else {
  await (isOneShot ? runBatch() : run());
}

async function runBatch(): Promise<void> {
  const { runOneBatch } = await import('./one-batch.ts');
  const result = await runOneBatch({ dimension, users, workers }, peakMiB);
  for (const [name, value] of Object.entries(result))
    console.log(`${name}: ${typeof value === 'number' ? Number(value.toFixed(2)) : value}`);
  if (values.json) console.log(JSON.stringify(result));
  process.exitCode = result.exact ? 0 : 1;
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
    const serverMiB = (): number => peakMiB(processes.children.get('server')?.pid ?? 0);
    const before = serverMiB();
    for (let user = 0; user < users; user++) {
      const took = await contribute(processes, user);
      console.log(`user ${user + 1} of ${users}: ${took.toFixed(0)} s, server at most ${serverMiB()} MiB`);
    }
    await untilIncluded(processes);
    const result = {
      dimension,
      users,
      workers,
      vectorMiB: mebibytes(4 * dimension),
      idleMiB: before,
      peakMiB: serverMiB(),
      exact: isMeanOf(users, await processes.server.parameters(processes.task, 1)),
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

/** The peak memory of the process with all its threads. */
function peakMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024);
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
