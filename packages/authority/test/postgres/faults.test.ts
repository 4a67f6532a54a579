/** Several nodes of one authority on one PostgreSQL: nothing is voted for twice, whatever fails between them. */

import { fromHex } from '@basa/masking';
import { type BasaEvent, batchVoteAnswerCodec, type Head, headCodec } from '@basa/protocol';
import { expect, it, vi } from 'vitest';
import type { Witness } from '../../src/index.ts';
import { AuthorityTables } from '../../src/store/tables.ts';
import { type Answer, ask } from '../asking.ts';
import { nodeOf, start, stop } from '../homes.ts';
import { finalBatch, loggedModel, shotScene, standOf } from '../one-shot/shot-world.ts';
import { cuttingProxy } from './cutting-proxy.ts';
import { authorityNodes, logOf, startNodes } from './nodes.ts';

const { postgres, backdoor, atEnd } = authorityNodes();

it('a node that ends between the commit and the answer: another node gives the same answer', async () => {
  const home = await postgres().freshHome();
  const second = await start(nodeOf(home, 'second'));
  let isCut = false;
  let kept: Head | undefined;
  const witness: Witness = {
    read: () => kept,
    write(head) {
      if (isCut) throw new Error('the node is gone');
      kept = head;
    },
  };
  const first = await start(nodeOf(home, 'first'), { witness });
  const { world, epochs, uploads } = await shotScene(second, 2);
  await world.inspected(first, uploads, epochs);
  const request = world.voteRequest(world.batchOf(uploads));
  isCut = true;
  expect((await world.vote(first, request)).status).toBe(500);
  const answer = await world.vote(second, request);
  expect(answer.status).toBe(200);
  isCut = false;
  expect((await world.vote(first, request)).bytes).toEqual(answer.bytes);
  expect(await logOf(second)).toMatchObject({ problems: [], counts: { 'batch-final': 1 } });
});

it('a commit whose answer was lost is found, and not repeated', async () => {
  const home = await postgres().freshHome();
  const proxy = await cuttingProxy(home.databaseUrl ?? '');
  atEnd(() => proxy.close());
  const node = await start({ ...home, databaseUrl: proxy.url });
  const losing = async (request: () => Promise<Answer>): Promise<Answer> => {
    proxy.cutCommits = 1;
    const answer = await request();
    expect([answer.status, proxy.cutCommits]).toEqual([200, 0]);
    return answer;
  };
  const scene = await shotScene(node, 2);
  const { world, epochs, uploads } = scene;
  await world.inspected(node, uploads, epochs);
  await losing(() => world.vote(node, world.voteRequest(world.batchOf(uploads))));
  const { ctx } = await finalBatch(node, scene);
  await losing(() => world.server.appendModel(node, { version: 1, sums: [ctx] }));
  expect(await logOf(node)).toMatchObject({ problems: [], counts: { 'batch-final': 1, 'model-appended': 2 } });
});

it('a node that stood still in the midst of a step has changed nothing', async () => {
  const home = await postgres().freshHome();
  const [first, second] = await startNodes(home, 2);
  const { world, epochs, uploads } = await shotScene(first, 2);
  for (const node of [first, second]) await world.inspected(node, uploads, epochs);
  const { append } = AuthorityTables.prototype;
  let goOn = (): void => {};
  const stands = new Promise<void>((isStanding) => {
    vi.spyOn(AuthorityTables.prototype, 'append').mockImplementationOnce(async function (
      this: AuthorityTables,
      ...values
    ) {
      isStanding();
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      await append.apply(this, values);
    });
  });
  const late = world.vote(first, world.voteRequest(world.batchOf(uploads, 1)));
  await stands;
  // PostgreSQL does this by itself after five seconds.
  const database = await backdoor(home);
  await database.transaction((session) =>
    session.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE state = 'idle in transaction' AND datname = current_database()`),
  );
  const batch = world.batchOf(uploads);
  const request = world.voteRequest(batch);
  const answer = await world.vote(second, request);
  expect(answer.status).toBe(200);
  goOn();
  expect(batchVoteAnswerCodec.decode((await late).bytes)).toEqual({ vote: undefined, held: batch });
  expect((await world.vote(first, request)).bytes).toEqual(answer.bytes);
  expect(await logOf(first)).toMatchObject({ problems: [], counts: { 'batch-final': 1 } });
});

it('a database that was rolled back under its running nodes is met by them, once', async () => {
  const home = await postgres().freshHome();
  const events: BasaEvent[] = [];
  const onEvent = (event: BasaEvent) => void events.push(event);
  const [first, second] = [
    await start(nodeOf(home, 'first'), { onEvent }),
    await start(nodeOf(home, 'second'), { onEvent }),
  ];
  const scene = await shotScene(first, 3);
  const { world, uploads } = scene;
  const { sequence } = headCodec.decode(fromHex((await ask(first, '/v1/authority')).head) as Uint8Array);
  await finalBatch(first, { ...scene, uploads: uploads.slice(0, 2) });
  for (const node of [first, second]) await world.inspected(node, uploads, scene.epochs);
  const database = await backdoor(home);
  await database.transaction(async (session) => {
    await session.query('DELETE FROM names WHERE sequence > ?', sequence);
    await session.query('DELETE FROM records WHERE sequence > ?', sequence);
  });
  // A vote for another batch with the same upload is what must not be: nobody votes in this epoch any more.
  const other = world.voteRequest(world.batchOf(uploads.slice(1), 1));
  const refusals = await Promise.all([first, second].map((node) => world.vote(node, other)));
  expect(refusals.map(({ code }) => code)).toEqual(['epoch-over', 'epoch-over']);
  expect(events.filter(({ kind }) => kind === 'authority-rolled-back')).toHaveLength(1);
  for (const node of [first, second]) expect(await standOf(node, scene)).toBe('dead');
  const next = { world, epochs: await world.epochs([second]), uploads: await world.uploads([second]) };
  expect((await finalBatch(first, next, 2)).votes).toHaveLength(1);
  expect(await logOf(first)).toMatchObject({ problems: [], counts: { 'branch-begun': 1, 'epoch-ended': 1 } });
});

it('a database rolled back while its nodes are down is met by any node that has seen more', async () => {
  const home = await postgres().freshHome();
  const [first, second] = await startNodes(home, 2);
  const scene = await shotScene(first, 2);
  await second.tick(); // its witness is at the last enrolment
  await finalBatch(first, scene);
  await Promise.all([stop(first), stop(second)]);
  const database = await backdoor(home);
  await database.transaction(async (session) => {
    const last = 'sequence = (SELECT max(sequence) FROM records)';
    await session.query(`DELETE FROM names WHERE ${last}`);
    await session.query(`DELETE FROM records WHERE ${last}`);
  });
  const behind = await start(nodeOf(home, 'node-1'));
  expect(await standOf(behind, scene)).toBe('live');
  await start(nodeOf(home, 'node-0'));
  expect(await standOf(behind, scene)).toBe('dead');
});

it('a database that ends and comes back has lost nothing, and its nodes go on', async () => {
  const [first, second] = await startNodes(await postgres().freshHome(), 2);
  const scene = await shotScene(first, 2);
  const { world, epochs, uploads } = scene;
  for (const node of [first, second]) await world.inspected(node, uploads, epochs);
  await postgres().stop('kill');
  const request = world.voteRequest(world.batchOf(uploads));
  const meanwhile = world.vote(second, request); // waits for the database as long as its patience lasts
  await postgres().restart();
  const { status } = await meanwhile;
  const again = await world.vote(first, request);
  expect(again.status).toBe(200);
  if (status === 200) expect((await meanwhile).bytes).toEqual(again.bytes);
  const { ctx } = await finalBatch(second, scene);
  await loggedModel(world.server, [second], { version: 1, sums: [ctx] });
  expect(await logOf(second)).toMatchObject({ problems: [], counts: { 'batch-final': 1, 'model-appended': 2 } });
});
