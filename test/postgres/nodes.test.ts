/** Three nodes on one PostgreSQL, any of which answers any request. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SERVER_PATH } from '@basa/protocol';
import type { LocalPostgres } from '@basa/service/local-postgres';
import { startLocalPostgres } from '@basa/service/local-postgres';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { oneHot, until } from '../services/house.ts';
import type { ClusterOptions } from './cluster.ts';
import { Cluster } from './cluster.ts';

let folder = '';
let postgres: LocalPostgres;
let cluster: Cluster | undefined;
let databases = 0;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'basa-postgres-'));
  postgres = await startLocalPostgres({ folder });
}, 120_000);
afterEach(async () => {
  await cluster?.close();
  cluster = undefined;
});
afterAll(async () => {
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function opened(options: Partial<ClusterOptions> = {}): Promise<Cluster> {
  cluster = await Cluster.open({ postgres, name: `nodes_${databases++}`, nodes: 3, ...options });
  return cluster;
}

describe('three nodes on one database', () => {
  it('fill buffers side by side, and each update counts once', async () => {
    const count = 12;
    const nodes = await opened({ policy: { dimension: count } });
    // Pieces of a body come to different nodes as well.
    const devices = await nodes.clients(count, { pieceBytes: 48 });
    const results = await Promise.all(
      devices.map((device, n) => device.contribute(oneHot(n, count), { trainedOn: 0 })),
    );
    expect(results.map(({ kind }) => kind)).toEqual(devices.map(() => 'accepted'));
    // As many buffers as the seats make up: none was given out twice.
    expect(new Set(results.map((result) => result.kind === 'accepted' && result.ctx)).size).toBe(count / 3);
    await until(async () => (await nodes.versions()).length === count / 3);
    expect(await nodes.counts()).toEqual(devices.map(() => 1));
    // Told to keep two versions, they remove the others, whosever turn it is.
    for (const n of [0, 1, 2]) {
      await nodes.stopNode(n);
      await nodes.startNode(n, { keep: { models: 2 }, tidyMs: 50 });
    }
    const status = async (version: number): Promise<number> =>
      (await fetch(new URL(SERVER_PATH.model(nodes.task, version), nodes.nodes[1]?.url))).status;
    await until(async () => (await status(count / 3 - 2)) === 404);
    expect([await status(count / 3 - 1), await status(count / 3)]).toEqual([200, 200]);
  });
});
