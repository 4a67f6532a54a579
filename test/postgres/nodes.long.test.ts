/** Three nodes on one PostgreSQL, any of which answers any request. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, SERVER_PATH } from '@basa/protocol/http';
import { nodeSuite } from '@basa/runtime/node';
import { type LocalPostgres, startLocalPostgres } from '@basa/testkit/processes/local-postgres.ts';
import { oneHot, operate, READER, scraped, until } from '@basa/testkit/services/test-services.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Cluster, type ClusterOptions } from './cluster.ts';

let folder = '';
let postgres: LocalPostgres;
let cluster: Cluster | undefined;
let databases = 0;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'basa-postgres-'));
  postgres = await startLocalPostgres({ folder });
});
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
  it('fill batches side by side, pieces of a body at different nodes, and each update counts once', async () => {
    const count = 9;
    const nodes = await opened({ policy: { dimension: count } });
    const devices = await nodes.clients(count, { pieceBytes: 24 });
    const results = await Promise.all(
      devices.map((device, n) => device.contribute(oneHot(n, count), { trainedOn: 0 })),
    );
    expect(results.map(({ kind }) => kind)).toEqual(devices.map(() => 'accepted'));
    await until(async () => (await nodes.versions()).length === count / 3);
    expect(await nodes.counts()).toEqual(devices.map(() => 1));
    // Told to keep two versions, they remove the others; the node with the lease does it.
    for (const n of [0, 1, 2]) {
      await nodes.nodes[n]?.close();
      await nodes.startNode(n, { keep: { models: 2 }, tidyMs: 50 });
    }
    const status = async (version: number): Promise<number> =>
      (await fetch(new URL(SERVER_PATH.model(nodes.task, version), nodes.nodes[1]?.url), { headers: READER })).status;
    await until(async () => (await status(count / 3 - 2)) === 404);
    expect([await status(count / 3 - 1), await status(count / 3)]).toEqual([200, 200]);
  });

  it('a node that was stopped past its lease in the midst of a vote is refused by the fence, and another ends the batch', async () => {
    const included: number[] = [];
    let stopped: number | undefined;
    let resume = (): void => {};
    const isResumed = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const nodes = await opened({
      onNode: (n) => ({
        onEvent: ({ kind }) => void (kind === 'batch-included' && included.push(n)),
        // The first node that asks for votes hears nothing of the answer until another has taken its lease.
        fetch: async (...asked) => {
          const answer = await fetch(...asked);
          if (stopped === undefined && String(asked[0]).endsWith('/batch-votes')) stopped = n;
          if (stopped === n) await isResumed;
          return answer;
        },
      }),
    });
    const devices = await nodes.clients(3);
    await Promise.all(devices.map((device, n) => device.contribute(oneHot(n), { trainedOn: 0 })));
    await until(() => stopped !== undefined);
    await nodes.query(`UPDATE leases SET holder = 'another', until = 0, fence = fence + 1`);
    await until(async () => (await nodes.versions()).length === 1);
    resume();
    await until(() => nodes.leasesLost > 0 && included.length > 0); // the version is in the database before its node tells it
    expect(included).toHaveLength(1);
    expect(included[0]).not.toBe(stopped);
    expect(await nodes.counts()).toEqual([1, 1, 1, 0, 0, 0, 0, 0]);
    expect(await nodes.versions()).toHaveLength(1);
  });

  it('go on when the database was killed under load and is back: nothing acknowledged is lost', async () => {
    const count = 6;
    const nodes = await opened({ policy: { dimension: count + 1 }, specification: { stallMs: 200 } });
    const devices = await nodes.clients(count);
    const work = devices.map((device, n) => device.contribute(oneHot(n, count + 1), { trainedOn: 0 }));
    await until(() => nodes.answered >= count);
    await postgres.stop('kill');
    const ready = async () => (await fetch(new URL('/readyz', nodes.nodes[0]?.url))).status;
    expect(await ready()).toBe(503);
    await postgres.restart();
    const results = await Promise.all(work);
    expect(results.map(({ kind }) => kind)).toEqual(devices.map(() => 'accepted'));
    expect(await nodes.countsOfFirst(count)).toEqual(devices.map(() => 1));
    await until(async () => (await ready()) === 200);
    const counted = await Promise.all(nodes.nodes.map(({ url }) => scraped(url)));
    for (const name of ['basa_commit_seconds_count', 'basa_database_retries_total'])
      expect(counted.reduce((sum, metrics) => sum + (metrics.get(name) ?? 0), 0)).toBeGreaterThan(0);
  });

  it('are stopped and started one after the other, as an upgrade does it, while devices contribute: each update counts once', async () => {
    const count = 9;
    const nodes = await opened({ policy: { dimension: count + 1 }, specification: { stallMs: 200 } });
    const devices = await nodes.clients(count);
    const work: ReturnType<(typeof devices)[number]['contribute']>[] = [];
    for (const n of [0, 1, 2]) {
      for (const [place, device] of [...devices.entries()].slice(3 * n, 3 * n + 3))
        work.push(device.contribute(oneHot(place, count + 1), { trainedOn: 0 }));
      await nodes.nodes[n]?.drain();
      await nodes.nodes[n]?.close();
      const { url } = await nodes.startNode(n);
      await until(async () => (await fetch(new URL('/readyz', url))).status === 200);
    }
    const results = await Promise.all(work);
    expect(results.map(({ kind }) => kind)).toEqual(devices.map(() => 'accepted'));
    expect(await nodes.countsOfFirst(count)).toEqual(devices.map(() => 1));
  });

  it('a task that is paused at one node immediately takes no upload at any node', async () => {
    const nodes = await opened();
    const device = await nodes.client('late');
    await nodes.setState(0, 'paused');
    expect(await device.contribute(oneHot(0), { trainedOn: 0 })).toMatchObject({ reason: 'task-paused' });
    await nodes.setState(1, 'running');
    // The other nodes hear of it a moment later.
    await until(async () => (await device.contribute(oneHot(0), { trainedOn: 0 })).kind === 'accepted');
  });

  it('a device that was revoked gets no place at any node once one of them has looked', async () => {
    const nodes = await opened({ onNode: (n) => ({ revocationsMs: n === 0 ? 50 : 1e9 }) });
    const device = await nodes.client('revoked', { server: nodes.nodes[2]?.url ?? '' });
    const user = toHex(nodeSuite.sha256(device.deviceKey));
    await operate(nodes.authority.url, 'POST', AUTHORITY_PATH.revocations, { user });
    await until(async () => {
      const answer = await device.admission();
      return answer.kind === 'rejected' && answer.reason === 'revoked';
    });
  });

  it('with another signing key than the others, or with the serial mode of the paper, do not start', async () => {
    const nodes = await opened({ nodes: 1 });
    await expect(nodes.startNode(1, { unsafePaperMode: true })).rejects.toThrow('remove databaseUrl');
    const database = { url: nodes.databaseUrl, signingKey: new Uint8Array(32).fill(7) };
    await expect(nodes.startNode(1, { database })).rejects.toThrow('differs from the key of the other nodes');
  });
});
