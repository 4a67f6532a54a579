/** Batches without end: devices that drop out, repeat themselves and lie, services that are restarted; every sum is checked. */
import { setMaxListeners } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Role } from '@basa/cli/internal/local/service-process.ts';
import { randomStream } from '@basa/learning';
import { bundleProcesses } from '@basa/testkit/processes/bundle.ts';
import { type AuditedBatch, countsByVersion, finalBatches, versionsOf } from '@basa/testkit/processes/results.ts';
import { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { oneShotLines } from './fleet.ts';
import { memoryMiB, openFiles } from './measured.ts';
import { emptyTally, type Offered, SoakDevice, type SoakWork, type Tally } from './soak-device.ts';

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

const MAX_RESTARTS = 8;

/** Half of the restarts are in the first third of the buffers, and half in the last third. Both services run undisturbed in between. */
function restartsAt(buffers: number, most: number = MAX_RESTARTS): readonly number[] {
  const count = Math.min(most, Math.floor(buffers / 2));
  const first = Math.ceil(count / 2);
  const third = buffers / 3;
  return Array.from({ length: count }, (_, n) =>
    n < first ? ((n + 1) * third) / (first + 1) : 2 * third + ((n - first + 1) * third) / (count - first + 1),
  );
}

interface Life {
  readonly role: Role;
  readonly fromBuffer: number;
  readonly toBuffer: number;
  /** Least squares over the second half of a life, because memory that a process allocates after its start is not a leak. */
  readonly kilobytesPerBuffer: number;
}

/** The longest life of each service. */
function longestLives(samples: readonly Sample[]): readonly Life[] {
  const longest = (role: Role): Life => {
    const lives = new Map<number, Sample[]>();
    for (const sample of samples)
      lives.set(sample[`${role}Life`], [...(lives.get(sample[`${role}Life`]) ?? []), sample]);
    const spanOf = (life: readonly Sample[]): number => (life.at(-1)?.buffers ?? 0) - (life[0]?.buffers ?? 0);
    const life = [...lives.values()].reduce((a, b) => (spanOf(b) > spanOf(a) ? b : a), []);
    const [fromBuffer, toBuffer] = [life[0]?.buffers ?? 0, life.at(-1)?.buffers ?? 0];
    const grown = life.filter(({ buffers }) => buffers >= (fromBuffer + toBuffer) / 2);
    const points = grown.map((sample) => [sample.buffers, sample[`${role}Megabytes`] * 1024] as const);
    return { role, fromBuffer, toBuffer, kilobytesPerBuffer: slopeOf(points) };
  };
  return [longest('server'), longest('authority')];
}

function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (axis: 0 | 1): number => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const spread = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  return points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0) / spread;
}

interface Sample {
  readonly buffers: number;
  readonly serverMegabytes: number;
  readonly authorityMegabytes: number;
  readonly serverFiles: number;
  readonly diskMegabytes: number;
  readonly bodies: number;
  readonly latencyMs: number;
  /** The number of earlier starts of each process. */
  readonly serverLife: number;
  readonly authorityLife: number;
}

interface Lives {
  readonly server: number;
  readonly authority: number;
}

function sampleOf({ children, folder }: TestProcesses, lives: Lives, buffers: number, latencies: number[]): Sample {
  const [server = 0, authority = 0] = [children.get('server')?.pid, children.get('authority')?.pid];
  const sorted = latencies.splice(0).sort((a, b) => a - b);
  return {
    buffers,
    serverMegabytes: memoryMiB(server, 'VmRSS'),
    authorityMegabytes: memoryMiB(authority, 'VmRSS'),
    serverFiles: openFiles(server),
    diskMegabytes: filesBelow(folder).reduce((sum, path) => sum + sizeOf(path), 0) / 2 ** 20,
    bodies: filesBelow(join(folder, 'server', 'blobs')).filter((path) => !path.includes('models')).length,
    latencyMs: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
    serverLife: lives.server,
    authorityLife: lives.authority,
  };
}

/** Files come and go while they are looked at. */
function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    });
  } catch {
    return [];
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

/** Checks that each version is the sum of the updates in its batches, and contains no lie. */
class ShotSums {
  readonly #work: SoakWork;
  readonly #endings: string[] = [];

  constructor(work: SoakWork) {
    this.#work = work;
  }

  /** Every batch that ends is a version; a spoilt one is a version without updates. */
  async endings(): Promise<readonly string[]> {
    const { server, task } = this.#work.processes;
    const made = await server.versions(task, this.#endings.length + 1).catch(() => []); // it is being restarted
    this.#endings.push(...made.map(({ accepted }) => (accepted === 0 ? 'quarantined' : 'included')));
    return this.#endings;
  }

  /** Versions that are not the sum of the updates listed for them. A spoilt batch leaves a version without updates. */
  async inexact(): Promise<readonly number[]> {
    const { processes } = this.#work;
    const counts = await countsByVersion(processes);
    const final = finalBatches(processes);
    const versions = await versionsOf(processes, final);
    const members = new Map<number, (AuditedBatch | undefined)[]>();
    for (const [ctx, version] of versions) members.set(version, [...(members.get(version) ?? []), final.get(ctx)]);
    const offered = new Map<string, Offered[]>();
    for (const one of this.#work.offered.filter(({ isLie }) => !isLie)) {
      const name = `${one.user} ${one.version}`;
      offered.set(name, [...(offered.get(name) ?? []), one]);
    }
    return [...members].flatMap(([version, batches]) => {
      const counted = counts[version];
      if (version === 0 || counted === undefined) return []; // made meanwhile
      const isSpoilt = counted.every((count) => count === 0);
      return isSpoilt || this.#isSumOf(version, batches, counted, offered) ? [] : [version];
    });
  }

  /**
   * All updates of a version were trained on one earlier version. A device that dropped out before anything left it may have offered
   * another update on it: one of them is in the sum.
   */
  #isSumOf(
    version: number,
    batches: readonly (AuditedBatch | undefined)[],
    counted: Int32Array,
    offered: ReadonlyMap<string, readonly Offered[]>,
  ): boolean {
    const users = batches.flatMap((batch) => batch?.uploads ?? []).map(({ user }) => user);
    const isMade = (left: Int32Array, trainedOn: number, n = 0): boolean => {
      if (n === users.length) return left.every((count) => count === 0);
      return (offered.get(`${users[n]} ${trainedOn}`) ?? []).some(({ place }) => {
        if ((left[place] ?? 0) <= 0) return false;
        const rest = left.slice();
        rest[place] = (rest[place] ?? 0) - 1;
        return isMade(rest, trainedOn, n + 1);
      });
    };
    const { maxStaleness } = this.#work.processes.policy;
    const earlier = Array.from({ length: Math.min(version, maxStaleness + 1) }, (_, age) => version - 1 - age);
    return !batches.includes(undefined) && earlier.some((trainedOn) => isMade(counted, trainedOn));
  }
}

const PANELS: readonly (readonly [keyof Sample, string])[] = [
  ['serverMegabytes', 'server, MB resident'],
  ['authorityMegabytes', 'authority, MB resident'],
  ['serverFiles', 'server, open files'],
  ['diskMegabytes', 'disk, MB'],
  ['latencyMs', 'contribution, median ms'],
];
const [WIDTH, HEIGHT, LEFT] = [720, 90, 190];

/** A plot of samples over buffers as SVG: one small panel for each quantity. */
export function plotOf(samples: readonly Sample[]): string {
  const last = samples.at(-1)?.buffers ?? 1;
  const panels = PANELS.map(([key, title], n) => {
    const values = samples.map((sample) => sample[key]);
    const most = Math.max(...values.filter(Number.isFinite), 1e-9);
    const points = samples.map((sample, i) => {
      const x = LEFT + (sample.buffers / last) * (WIDTH - LEFT - 10);
      return `${x.toFixed(1)},${(HEIGHT - 10 - ((values[i] ?? 0) / most) * (HEIGHT - 25)).toFixed(1)}`;
    });
    return `<g transform="translate(0 ${n * HEIGHT})"><text x="8" y="45">${title}</text><text x="8" y="62">most ${most.toFixed(1)}</text>
<polyline fill="none" stroke="#1f5fa8" points="${points.filter((point) => !point.includes('NaN')).join(' ')}"/>
<line x1="${LEFT}" x2="${WIDTH - 10}" y1="${HEIGHT - 10}" y2="${HEIGHT - 10}" stroke="#999"/></g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT * PANELS.length + 20}" font-family="sans-serif" font-size="12"><title>What a soak of ${last} batches held over time</title>
${panels.join('\n')}
<text x="${LEFT}" y="${HEIGHT * PANELS.length + 12}">0 to ${last} batches</text></svg>
`;
}
