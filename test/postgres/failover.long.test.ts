/** A primary that dies under load, and a standby that takes its place. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseProxy } from '@basa/testkit/processes/database-proxy.ts';
import { type LocalPostgres, startLocalPostgres } from '@basa/testkit/processes/local-postgres.ts';
import { oneHot, until } from '@basa/testkit/services/test-services.ts';
import pg from 'pg';
import { afterEach, expect, it } from 'vitest';
import { Cluster } from './cluster.ts';

const NAME = 'failover';
const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A primary, a standby of it, and an address that leads to either. */
async function pair(settings: Readonly<Record<string, string>>) {
  const places = {
    primary: mkdtempSync(join(tmpdir(), 'basa-primary-')),
    standby: mkdtempSync(join(tmpdir(), 'basa-standby-')),
  };
  closing.push(() => {
    for (const folder of Object.values(places)) rmSync(folder, { recursive: true, force: true });
  });
  const first = await startLocalPostgres({ folder: places.primary });
  await first.database(NAME);
  await first.stop();
  writeFileSync(join(places.primary, 'data', 'standby.signal'), '');
  execFileSync('cp', ['-a', `${places.primary}/.`, places.standby]); // with their owners
  rmSync(join(places.primary, 'data', 'standby.signal'));
  const primary = await startLocalPostgres({ folder: places.primary, settings });
  closing.push(() => primary.stop('kill'));
  const { hostname, port, username, password } = new URL(primary.url(NAME));
  const source = `host=${hostname} port=${port} user=${username} password=${password} application_name=standby`;
  const standby = await startLocalPostgres({ folder: places.standby, settings: { primary_conninfo: source } });
  closing.push(() => standby.stop('kill'));
  return { primary, standby };
}

/** The database address of the servers, whose target can be changed. */
async function signpost(to: LocalPostgres) {
  let target = new URL(to.url(NAME));
  const proxy = await databaseProxy(
    () => target,
    (near, far) => {
      near.pipe(far);
      far.pipe(near);
    },
  );
  closing.push(() => proxy.close());
  return {
    url: proxy.url,
    leadTo(other: LocalPostgres): void {
      target = new URL(other.url(NAME));
      proxy.cut();
    },
  };
}

async function ask<Answer>(at: LocalPostgres, statement: string): Promise<readonly Answer[]> {
  const client = new pg.Client({ connectionString: at.url(NAME) });
  await client.connect();
  try {
    return (await client.query(statement)).rows as Answer[];
  } finally {
    await client.end();
  }
}

async function cluster(url: string, devices: number, words: string[]): Promise<Cluster> {
  const opened = await Cluster.open({
    postgres: { database: async () => url } as unknown as LocalPostgres,
    name: NAME,
    nodes: 2,
    policy: { dimension: devices + 1 },
    specification: { stallMs: 200 },
    onNode: () => ({ log: { level: 'warn', stream: { write: (line) => void words.push(line) } } }),
  });
  closing.push(() => opened.close());
  return opened;
}

it('loses nothing that was acknowledged, if the primary waits for its standby', async () => {
  const count = 6;
  const { primary, standby } = await pair({ synchronous_standby_names: '*' });
  const post = await signpost(primary);
  const words: string[] = [];
  const nodes = await cluster(post.url, count, words);
  expect(words.join()).not.toContain('may be lost');
  const devices = await nodes.clients(count);
  const work = devices.map((device, n) => device.contribute(oneHot(n, count + 1), { trainedOn: 0 }));
  await until(() => nodes.answered >= count);
  await primary.stop('kill');
  await ask(standby, 'SELECT pg_promote()');
  post.leadTo(standby);
  const results = await Promise.all(work);
  expect(results.map(({ kind }) => kind)).toEqual(devices.map(() => 'accepted'));
  expect(await nodes.countsOfFirst(count)).toEqual(devices.map(() => 1));
}, 600_000);

it('acknowledges nothing that the standby does not have, even if an administrator ends the wait', async () => {
  const { primary, standby } = await pair({ synchronous_standby_names: '*' });
  const post = await signpost(primary);
  const nodes = await cluster(post.url, 2, []);
  const device = await nodes.client('one');
  await standby.stop('kill');
  let isAcknowledged = false;
  const offered = device.contribute(oneHot(0, 3), { trainedOn: 0 }).finally(() => {
    isAcknowledged = true;
  });
  const waiting = `FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
  for (let times = 0; times < 3; times++) {
    await until(async () => (await ask(primary, `SELECT pid ${waiting}`)).length > 0);
    await ask(primary, `SELECT pg_cancel_backend(pid) ${waiting}`);
  }
  expect(isAcknowledged).toBe(false);
  await standby.restart();
  expect(await offered).toMatchObject({ kind: 'accepted' });
}, 600_000);

it('warns operators that acknowledged updates may be lost, if the primary does not wait for its standby', async () => {
  const { primary } = await pair({});
  await until(async () => (await ask(primary, 'SELECT pid FROM pg_stat_replication')).length > 0);
  const words: string[] = [];
  await cluster((await signpost(primary)).url, 2, words);
  expect(words.join()).toContain('a fail-over loses the newest acknowledged data');
}, 600_000);
