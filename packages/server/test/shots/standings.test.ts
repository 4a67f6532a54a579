/** An authority that opens epochs without end, or before their time, is not heard: its statements would fill every request. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AuthorityStanding, EPOCHS_AT_ONCE, epochCodec, millis } from '@basa/protocol';
import { openDatabase, SQLITE, sqliteDatabase } from '@basa/service';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { afterEach, expect, it } from 'vitest';
import type { TaskAuthorities } from '../../src/authority/task-authorities.ts';
import { Standings, type StandingsOptions } from '../../src/shots/standings.ts';
import { migrationsFor } from '../../src/store/schema.ts';
import { createStore, type Store } from '../../src/store/store.ts';

const folder = mkdtempSync(join(tmpdir(), 'basa-standings-'));
let store: Store;
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

it('keeps a limited number of epochs of an authority, and no future epochs', async () => {
  const world = new ShotWorld();
  const options = { application: 'server', migrations: migrationsFor(SQLITE) } as const;
  store = createStore(sqliteDatabase(openDatabase(folder, options), () => world.now));
  const { task, policy } = world;
  await store.addTask({ task, policy, specification: '{}', state: 'running', createdAt: 5 });
  const { ports } = world.authority(0).base;
  let [number, ahead] = [0, 86_400_000];
  const standing = async (): Promise<AuthorityStanding> => {
    const told = world.authority(0).standing() as AuthorityStanding;
    const opens = millis(world.now + ahead);
    const body = { ...told.epoch, number: ++number, opens, closes: millis(opens + 3_600_000) };
    return { ...told, epoch: { ...body, signature: ports.signer.sign(epochCodec.statement(body)) } };
  };
  const authorities = { members: [{ authority: 0, link: { standing } }] } as unknown as TaskAuthorities;
  const troubles: unknown[] = [];
  const standings = new Standings({
    task,
    policy: policy as StandingsOptions['policy'],
    ports: { suite: ports.suite } as StandingsOptions['ports'],
    store,
    authorities,
    clock: () => world.now,
    onTrouble: (_, error) => troubles.push(error),
  });
  const look = async (): Promise<void> => {
    world.pass(5_000);
    await standings.look();
  };
  await look();
  expect([await store.epochs(task), troubles.length]).toEqual([[], 1]);
  ahead = 0;
  for (let n = 0; n < 2 * EPOCHS_AT_ONCE; n++) await look();
  expect(await store.epochs(task)).toHaveLength(EPOCHS_AT_ONCE);
  expect(troubles).toHaveLength(1 + EPOCHS_AT_ONCE);
});
