/** Durable uploads with 1, 2 and 3 nodes on PostgreSQL, compared with the embedded server in the same run. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENGINE, ONE_SHOT_DEFAULTS } from '@basa/protocol';
import { startLocalPostgres } from '@basa/service/local-postgres';
import { type Bundle, bundleProcesses } from '@basa/testkit/processes/bundle.ts';
import { TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import type { BenchResult } from './result.ts';
import { HeldDevices, type HeldRequest } from './server/held-devices.ts';
import { loadHttp } from './server/load.ts';
import { cpuSeconds } from './server/processor.ts';
import { formatTable } from './table.ts';

interface Place {
  readonly name: string;
  /** 0: embedded. */
  readonly nodes: number;
  readonly blobs: 'files' | 'database';
}

interface Size {
  readonly name: string;
  readonly dimension: number;
}

interface Measured {
  readonly place: Place;
  readonly size: Size;
  readonly uploadsPerSecond: number;
  /** Processor time of an upload: at the nodes, and at the database. */
  readonly nodeMs: number;
  readonly databaseMs: number;
}

interface Round {
  readonly uploads: number;
  readonly nodeMs: number;
  readonly databaseMs: number;
}

const PLACES: readonly Place[] = [
  { name: 'embedded (SQLite)', nodes: 0, blobs: 'files' },
  { name: '1 node', nodes: 1, blobs: 'files' },
  { name: '2 nodes', nodes: 2, blobs: 'files' },
  { name: '3 nodes', nodes: 3, blobs: 'files' },
  { name: '3 nodes, blobs in the database', nodes: 3, blobs: 'database' },
];
const SIZES: readonly Size[] = [
  { name: '7,850', dimension: 7850 },
  { name: '1M (4 MB)', dimension: 1_000_000 },
];
const ROUNDS = 2;
const UPLOADS = 24;
const AT_ONCE = 6;
const LOOK_MS = 20;

export async function benchNodes(): Promise<BenchResult> {
  const bundle = await bundleProcesses();
  const folder = mkdtempSync(join(tmpdir(), 'basa-bench-postgres-'));
  const postgres = await startLocalPostgres({ folder });
  const results: Measured[] = [];
  try {
    for (const size of SIZES)
      for (const [n, place] of PLACES.entries()) {
        const url = await postgres.database(`bench_${size.dimension}_${n}`);
        results.push(await measure(bundle, place, size, { url, pid: postgres.pid }));
      }
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return { text: `${tableOf(results)}\n\n${notes()}`, json: { nodes: results.map(jsonOf) } };
}

async function measure(
  bundle: Bundle,
  place: Place,
  { dimension, ...size }: Size,
  database: { readonly url: string; readonly pid: number },
): Promise<Measured> {
  const policy = {
    ...{ dimension, bufferSize: UPLOADS, minimum: UPLOADS, engine: ENGINE.oneShot },
    oneShot: { ...ONE_SHOT_DEFAULTS, tolerated: 0 },
  };
  const nodes = place.nodes === 0 ? {} : { nodes: { count: place.nodes, databaseUrl: database.url, random: () => 0 } };
  const server = { tickMs: 1000, ...(place.nodes > 0 && { blobs: place.blobs }) };
  const processes = await TestProcesses.open({ bundle, policy, server, ...nodes });
  try {
    const rounds: Round[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await playRound(processes, database.pid));
    const best = (of: (round: Round) => number): number => Math.max(...rounds.map(of));
    const least = (of: (round: Round) => number): number => Math.min(...rounds.map(of));
    return {
      place,
      size: { dimension, ...size },
      uploadsPerSecond: best(({ uploads }) => uploads),
      nodeMs: least(({ nodeMs }) => nodeMs),
      databaseMs: least(({ databaseMs }) => databaseMs),
    };
  } finally {
    await processes.close();
  }
}

/** Requests are made through one address, and sent to the nodes in turn. */
async function playRound(processes: TestProcesses, databasePid: number): Promise<Round> {
  const urls = processes.servers.map((name) => processes.urls[name] ?? '');
  const spread = (requests: readonly HeldRequest[]): readonly HeldRequest[] =>
    requests.map((one, n) => ({ ...one, url: new URL(new URL(one.url).pathname, urls[n % urls.length]).href }));
  const { server, task } = processes;
  const { version: before = 0 } = await server.task(task);
  const devices = new HeldDevices(processes);
  try {
    await devices.enrol(UPLOADS);
    const requests = spread(await devices.uploads());
    const pids = processes.servers.map((name) => processes.children.get(name)?.pid ?? 0);
    const began = { node: cpuSeconds(pids, 'alone'), database: cpuSeconds([databasePid], 'with children') };
    const uploads = await loadHttp(requests, AT_ONCE);
    const perUpload = (seconds: number): number => (1000 * seconds) / requests.length;
    const nodeMs = perUpload(cpuSeconds(pids, 'alone') - began.node);
    const databaseMs = perUpload(cpuSeconds([databasePid], 'with children') - began.database);
    // The devices of the next round begin with the version of this one.
    while (((await server.task(task)).version ?? 0) <= before) await sleep(LOOK_MS);
    return { uploads: uploads.perSecond, nodeMs, databaseMs };
  } finally {
    await devices.close();
  }
}

function tableOf(results: readonly Measured[]): string {
  const rows = results.map((one) => {
    const embedded = results.find(
      ({ place, size }) => place.nodes === 0 && size.dimension === one.size.dimension,
    ) as Measured;
    const perNode = one.uploadsPerSecond / Math.max(1, one.place.nodes) / embedded.uploadsPerSecond;
    return [
      one.size.name,
      one.place.name,
      one.uploadsPerSecond.toFixed(1),
      (one.uploadsPerSecond / embedded.uploadsPerSecond).toFixed(2),
      perNode.toFixed(2),
      one.nodeMs.toFixed(1),
      one.databaseMs.toFixed(1),
    ];
  });
  const header = ['d', 'server', 'uploads/s', 'of embedded', 'a node', 'node CPU ms', 'database CPU ms'];
  return formatTable(header, rows, 2);
}

function notes(): string {
  return `${AT_ONCE} concurrent requests, best of ${ROUNDS} rounds. Nodes, database, authority and senders share one machine, so its cores limit
the speed of several nodes. CPU is the processor time of one upload, at the nodes and at the database.`;
}

function jsonOf({ place, size, ...numbers }: Measured): object {
  return { server: place.name, nodes: place.nodes, dimension: size.dimension, ...numbers };
}
