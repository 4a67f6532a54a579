/** Several nodes of one authority on one PostgreSQL: nothing is issued twice, whatever fails between them. */

import { fromHex } from '@basa/masking';
import { type BasaEvent, type Head, headCodec } from '@basa/protocol';
import { expect, it, vi } from 'vitest';
import type { Witness } from '../../src/index.ts';
import { AuthorityTables } from '../../src/store/tables.ts';
import { type Answer, ask } from '../asking.ts';
import { nodeOf, start, stop } from '../homes.ts';
import { seated, stage } from '../parties.ts';
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
  const world = await stage(second, 2);
  const buffer = await seated(second, world);
  const request = buffer.keyRequest(0);
  isCut = true;
  expect((await buffer.askKey(first, 0, request)).status).toBe(500);
  const answer = await buffer.askKey(second, 0, request);
  expect(answer.status).toBe(200);
  isCut = false;
  expect((await buffer.askKey(first, 0, request)).bytes).toEqual(answer.bytes);
  expect(await logOf(second)).toMatchObject({ problems: [], counts: { 'key-issued': 1 } });
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
  const world = await stage(node, 2);
  const buffer = await seated(node, world);
  const keys = [await losing(() => buffer.askKey(node, 0)), await losing(() => buffer.askKey(node, 1))];
  await losing(() => buffer.close(node, buffer.closeRequest([0, 1], keys)));
  await losing(() => world.server.appendModel(node, 1, buffer.ctx));
  expect(await logOf(node)).toMatchObject({
    problems: [],
    counts: { 'key-issued': 2, 'buffer-closed': 1, 'model-appended': 2 },
  });
});

it('a node that stood still in the midst of a step has changed nothing', async () => {
  const home = await postgres().freshHome();
  const [first, second] = await startNodes(home, 2);
  const buffer = await seated(first, await stage(first, 2));
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
  const late = buffer.askKey(first, 0, buffer.otherKeyRequest(0));
  await stands;
  // PostgreSQL does this by itself after five seconds.
  const database = await backdoor(home);
  await database.transaction((session) =>
    session.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE state = 'idle in transaction' AND datname = current_database()`),
  );
  const request = buffer.keyRequest(0);
  const answer = await buffer.askKey(second, 0, request);
  expect(answer.status).toBe(200);
  goOn();
  expect((await late).code).toBe('slot-registered');
  expect((await buffer.askKey(first, 0, request)).bytes).toEqual(answer.bytes);
  expect(await logOf(first)).toMatchObject({ problems: [], counts: { 'key-issued': 1 } });
});

it('a database that was rolled back under its running nodes is met by them, once', async () => {
  const home = await postgres().freshHome();
  const events: BasaEvent[] = [];
  const onEvent = (event: BasaEvent) => void events.push(event);
  const [first, second] = [
    await start(nodeOf(home, 'first'), { onEvent }),
    await start(nodeOf(home, 'second'), { onEvent }),
  ];
  const world = await stage(first, 2);
  const buffer = await seated(first, world);
  const { sequence } = headCodec.decode(fromHex((await ask(first, '/v1/authority')).head) as Uint8Array);
  expect((await buffer.askKey(first, 0)).status).toBe(200);
  expect((await buffer.askKey(second, 1)).status).toBe(200);
  const database = await backdoor(home);
  await database.transaction(async (session) => {
    await session.query('DELETE FROM names WHERE sequence > ?', sequence);
    await session.query('DELETE FROM records WHERE sequence > ?', sequence);
  });
  // Another key for the same slot is what must not be: nobody issues in this buffer any more.
  const refusals = await Promise.all([
    buffer.askKey(first, 0, buffer.otherKeyRequest(0)),
    buffer.askKey(second, 0, buffer.otherKeyRequest(0)),
  ]);
  expect(refusals.map(({ code }) => code)).toEqual(['buffer-not-open', 'buffer-not-open']);
  expect(events.filter(({ kind }) => kind === 'authority-rolled-back')).toHaveLength(1);
  for (const node of [first, second]) expect((await buffer.outcome(node)).status).toBe('unknown');
  const next = await seated(second, world);
  expect((await next.askKey(first, 0)).status).toBe(200);
  expect(await logOf(first)).toMatchObject({ problems: [], counts: { 'branch-begun': 1, 'buffer-unknown': 1 } });
});

it('a database rolled back while its nodes are down is met by any node that has seen more', async () => {
  const home = await postgres().freshHome();
  const [first, second] = await startNodes(home, 2);
  const world = await stage(first, 2);
  const buffer = await seated(first, world);
  await second.tick(); // its witness is at the draw
  await buffer.askKey(first, 0);
  await Promise.all([stop(first), stop(second)]);
  const database = await backdoor(home);
  await database.transaction(async (session) => {
    const last = 'sequence = (SELECT max(sequence) FROM records)';
    await session.query(`DELETE FROM names WHERE ${last}`);
    await session.query(`DELETE FROM records WHERE ${last}`);
  });
  const behind = await start(nodeOf(home, 'node-1'));
  expect((await buffer.outcome(behind)).status).toBe('open');
  await start(nodeOf(home, 'node-0'));
  expect((await buffer.outcome(behind)).status).toBe('unknown');
});

it('a database that ends and comes back has lost nothing, and its nodes go on', async () => {
  const [first, second] = await startNodes(await postgres().freshHome(), 2);
  const buffer = await seated(first, await stage(first, 2));
  const key = await buffer.askKey(first, 0);
  await postgres().stop('kill');
  const request = buffer.keyRequest(1);
  const meanwhile = buffer.askKey(second, 1, request); // waits for the database as long as its patience lasts
  await postgres().restart();
  const { status } = await meanwhile;
  const again = await buffer.askKey(first, 1, request);
  expect(again.status).toBe(200);
  if (status === 200) expect((await meanwhile).bytes).toEqual(again.bytes);
  await buffer.close(second, buffer.closeRequest([0, 1], [key, again]));
  expect(await logOf(second)).toMatchObject({ problems: [], counts: { 'key-issued': 2, 'buffer-closed': 1 } });
});
