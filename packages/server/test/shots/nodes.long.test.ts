/** Several nodes on one database: uploads come to all of them, and the node with the lease makes batches. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalPostgres, startLocalPostgres } from '@basa/testkit/processes/local-postgres.ts';
import { type SentShot, ShotScene, stepOf } from '@basa/testkit/world/shots.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

let postgres: LocalPostgres;
let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'basa-postgres-'));
  postgres = await startLocalPostgres({ folder });
});
afterAll(async () => {
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

it('take the pieces of one upload, make one batch of the uploads at all nodes, and continue without each other', async () => {
  const url = await postgres.database('shots');
  const database = { url, signingKey: new Uint8Array(32).fill(5), leaseMs: 1000 };
  const scene = await ShotScene.open({
    count: 4,
    startsAt: Date.now(),
    server: { database, blobs: { kind: 'database', url }, tickMs: 30 },
  });
  const first = scene.world.server;
  const second = await scene.world.node();
  const use = (node: typeof first): void => {
    scene.world.server = node;
    scene.world.wire.put('server', node.app);
  };
  try {
    const made: SentShot[] = [];
    for (let n = 0; n < 8; n++) made.push(await scene.shot());
    const [split, ...rest] = made.slice(0, 4) as [SentShot, ...SentShot[]];
    await scene.send(split, 0, 40);
    use(second);
    expect(await scene.standingOf(split)).toMatchObject({ status: 200, offset: '40' });
    expect(await scene.send(split, 40)).toMatchObject({ json: { accepted: true } });
    for (const [n, shot] of rest.entries()) {
      use(n % 2 === 0 ? first : second);
      expect(await scene.send(shot)).toMatchObject({ json: { accepted: true } });
    }
    expect(await scene.reached(1)).toEqual(stepOf(made.slice(0, 4)));
    // A device that heard of the version at one node hears of it at every other one.
    for (const node of [first, second]) {
      use(node);
      expect((await scene.shown()).statement.version).toBe(1);
    }
    for (const shot of made.slice(0, 4)) expect(await scene.fateIs(shot, 'included')).toMatchObject({ version: 1 });
    await first.close();
    for (const shot of made.slice(4)) expect(await scene.send(shot)).toMatchObject({ json: { accepted: true } });
    await scene.reached(2);
    for (const shot of made.slice(4)) expect(await scene.fateIs(shot, 'included')).toMatchObject({ version: 2 });
  } finally {
    use(second);
    await scene.close();
  }
});
