/** Several nodes of one authority on one PostgreSQL: each key once, one log, whatever fails between them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromHex, toHex } from '@basa/masking';
import type { BasaEvent, BufferPart, DrawnBuffer, Head } from '@basa/protocol';
import { AUTHORITY_PATH, drawnBufferCodec, epochKeyOf, headCodec } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import type { SqlDatabase } from '@basa/service';
import { openPostgres } from '@basa/service';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { Authority, Witness } from '../../packages/authority/src/index.ts';
import { rotateVault, verifyLog } from '../../packages/authority/src/index.ts';
import { AUTHORITY_DATABASE } from '../../packages/authority/src/store.ts';
import { AuthorityTables } from '../../packages/authority/src/tables.ts';
import type { Home } from '../../packages/authority/test/homes.ts';
import { nodeOf, testPostgres } from '../../packages/authority/test/homes.ts';
import type { Answer } from '../../packages/authority/test/parties.ts';
import {
  AUDITOR,
  ask,
  askAs,
  cleanUp,
  newDevice,
  OPERATOR,
  seated,
  stage,
  start,
  stop,
  TestBuffer,
  time,
  userOf,
} from '../../packages/authority/test/parties.ts';
import { cuttingProxy } from './cutting-proxy.ts';

let postgres: Awaited<ReturnType<typeof testPostgres>>;
beforeAll(async () => {
  postgres = await testPostgres();
});
afterAll(() => postgres?.remove());
const ends: (() => unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  await cleanUp();
  for (const end of ends.splice(0)) await end();
});

async function startNodes(home: Home, count: number): Promise<readonly [Authority, Authority, ...Authority[]]> {
  const nodes = await Promise.all(Array.from({ length: count }, (_, n) => start(nodeOf(home, `node-${n}`))));
  return nodes as unknown as readonly [Authority, Authority, ...Authority[]];
}

/** The database behind the back of its nodes. */
async function backdoor({ databaseUrl: url = '' }: Home): Promise<SqlDatabase> {
  const database = await openPostgres({ url, ...AUTHORITY_DATABASE });
  ends.push(() => database.close());
  return database;
}

async function logOf(node: Authority) {
  const log = await ask(node, AUTHORITY_PATH.log, { token: AUDITOR });
  return verifyLog(log.bytes, node.publicKey);
}

function only<Value>(values: readonly Value[], nameOf: (value: Value) => string): Value {
  expect(new Set(values.map(nameOf)).size).toBe(1);
  return values[0] as Value;
}

const hexOf = ({ bytes }: Answer): string => toHex(bytes);

it('three nodes that start at once are one authority: what is asked of all at once happens once', async () => {
  const nodes = await startNodes(await postgres.freshHome(), 3);
  const [first, second] = nodes;
  only(nodes, ({ publicKey }) => toHex(publicKey));
  const world = await stage(first, 3);
  const heads: string[] = [];
  const fromAll = async (request: (node: Authority) => Promise<Answer>): Promise<readonly Answer[]> => {
    const answers = await Promise.all(nodes.map(request));
    heads.push(...answers.map(({ head }) => head));
    return answers;
  };

  const drawn: DrawnBuffer[] = [];
  for (let n = 0; n < 3; n++) {
    const body = world.server.drawRequest();
    const { bytes } = only(await fromAll((node) => ask(node, AUTHORITY_PATH.buffers, { body })), hexOf);
    drawn.push(drawnBufferCodec.decode(bytes));
  }
  // One master key for the task and epoch, whoever draws.
  only(drawn, ({ descriptor }) => toHex(epochKeyOf(descriptor, descriptor.parts[0] as BufferPart)));

  await Promise.all(
    drawn.map(async (one) => {
      const buffer = new TestBuffer(world.server, one);
      for (const { device, certificate } of world.enrolled) buffer.seat(device, certificate);
      const keys = await Promise.all(
        [0, 1, 2].map(async (slot) => {
          const request = buffer.keyRequest(slot);
          return only(await fromAll((node) => buffer.askKey(node, slot, request)), hexOf);
        }),
      );
      // Each node is asked for another set: one of them is the buffer's.
      const sets = new Map(nodes.map((node, n) => [node, [0, 1, 2].filter((slot) => slot !== n)]));
      const closes = await fromAll((node) => buffer.close(node, buffer.closeRequest(sets.get(node) ?? [], keys)));
      expect(closes.map(({ code }) => code)).toEqual([undefined, undefined, undefined]);
      const outcomes = closes.map((answer) => buffer.releasedKeys(answer).outcome);
      const accepted = only(outcomes, (outcome) => JSON.stringify(outcome.accepted.map(({ slot }) => slot))).accepted;
      for (const node of nodes) expect((await buffer.outcome(node)).accepted).toEqual(accepted);
    }),
  );

  // A key that two requests want at the same time goes to one of them.
  const contested = await seated(first, world);
  const requests = [contested.keyRequest(0), contested.otherKeyRequest(0)];
  const two = await Promise.all(requests.map((request, n) => contested.askKey(nodes[n] ?? first, 0, request)));
  expect(two.map(({ code }) => code ?? 'issued').sort()).toEqual(['issued', 'slot-registered']);

  // What one node has acknowledged holds on the others at once.
  const user = toHex(userOf((world.enrolled[1] as (typeof world.enrolled)[0]).device));
  await ask(first, AUTHORITY_PATH.revocations, { body: { user }, token: OPERATOR });
  expect((await contested.askKey(second, 1)).code).toBe('revoked');
  for (const { tasks } of (await fromAll((node) => ask(node, AUTHORITY_PATH.tasks, { token: OPERATOR }))).map(
    (answer) => answer.json() as { tasks: { devices: number }[] },
  )) {
    expect(tasks).toMatchObject([{ devices: 2 }]);
  }

  const reports = await Promise.all(nodes.map(logOf));
  expect(reports.map(({ problems }) => problems)).toEqual([[], [], []]);
  const report = only(reports, ({ head }) => String(head));
  expect(report).toMatchObject({
    doubleIssues: 0,
    counts: { 'buffer-drawn': 4, 'key-issued': 10, 'buffer-closed': 3, 'branch-begun': 0 },
  });
  // Heads never fork: two of the same length are the same, and every one can be shown to every node.
  const bySequence = new Map<number, string>();
  for (const head of heads) {
    const { sequence } = headCodec.decode(fromHex(head) as Uint8Array);
    expect(bySequence.get(sequence) ?? head).toBe(head);
    bySequence.set(sequence, head);
    const node = nodes[sequence % 3] ?? first;
    expect((await ask(node, '/v1/health', { headers: { 'basa-head': head } })).status).toBe(200);
  }
  expect(only(await Promise.all(nodes.map(logOf)), ({ head }) => String(head)).head).toBe(report.head);
});

it('tokens are used once, and a device enrolled at one node gets its key at another', async () => {
  const [first, second] = await startNodes(await postgres.freshHome(), 2);
  const { server } = await stage(first, 0);
  const tokensPath = AUTHORITY_PATH.tokens(server.task);
  const made = await ask(first, tokensPath, { body: { count: 1, endsAt: time.now + 1000 }, token: OPERATOR });
  const [token] = made.json().tokens as string[];
  const devices = [newDevice(), newDevice()] as const;
  const path = AUTHORITY_PATH.enrolments(server.task);
  const answers = await Promise.all([
    askAs(devices[0], first, path, { token }),
    askAs(devices[1], second, path, { token }),
  ]);
  expect(answers.map(({ code }) => code ?? 'enrolled').sort()).toEqual(['enrolled', 'enrolment-token-invalid']);
  const [winner, elsewhere] = answers[0].status === 200 ? [0, second] : [1, first];
  const enrolled = [{ device: devices[winner] as (typeof devices)[0], certificate: (answers[winner] as Answer).bytes }];
  const buffer = await seated(elsewhere, { server, enrolled });
  expect((await buffer.askKey(elsewhere, 0)).status).toBe(200);
});

it('a node that ends between the commit and the answer: another node gives the same answer', async () => {
  const home = await postgres.freshHome();
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

it('a commit whose answer was lost on the way is found, not made again', async () => {
  const home = await postgres.freshHome();
  const proxy = await cuttingProxy(home.databaseUrl ?? '');
  ends.push(() => proxy.close());
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
  const home = await postgres.freshHome();
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
  // What PostgreSQL does by itself after five seconds.
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
  const home = await postgres.freshHome();
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

it('a new node joins by the word of its operator; without it or a witness, what was open is given up', async () => {
  const home = await postgres.freshHome();
  const first = await start(nodeOf(home, 'first'));
  const buffer = await seated(first, await stage(first, 2));
  const joined = await start(nodeOf(home, 'joined'), { newNode: true });
  expect((await buffer.askKey(joined, 0)).status).toBe(200);
  await stop(joined);
  await stop(await start(nodeOf(home, 'joined'))); // by its own witness now
  expect((await buffer.outcome(first)).status).toBe('open');
  await start(nodeOf(home, 'stranger'));
  expect((await buffer.outcome(first)).status).toBe('unknown');
});

it('a database rolled back while its nodes are down is met by any node that has seen more', async () => {
  const home = await postgres.freshHome();
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

it('the key of an epoch that is over is wiped in every node', async () => {
  const home = await postgres.freshHome();
  const [first, second] = await startNodes(home, 2);
  const world = await stage(first, 2);
  const buffer = await seated(first, world);
  const keys = [await buffer.askKey(first, 0), await buffer.askKey(second, 1)];
  const close = buffer.closeRequest([0, 1], keys);
  expect((await buffer.close(first, close)).bytes).toEqual((await buffer.close(second, close)).bytes);
  await world.server.appendModel(second, 1, buffer.ctx);
  const began = time.now;
  try {
    time.now += 86_400_000;
    await first.tick();
    expect((await buffer.close(first, close)).code).toBe('buffer-over');
    await second.tick();
    expect((await buffer.close(second, close)).code).toBe('buffer-over');
  } finally {
    time.now = began;
  }
  const database = await backdoor(home);
  expect(await database.transaction((session) => session.query('SELECT task FROM epochs'))).toEqual([]);
});

it('keys that were sealed anew open with the new secret at every node; one that runs on with the old one issues nothing', async () => {
  const home = await postgres.freshHome();
  const old = await start(nodeOf(home, 'node-0'));
  const buffer = await seated(old, await stage(old, 2));
  const keyFile = join(home.root, 'new-key');
  writeFileSync(keyFile, nodeRandomBytes(32), { mode: 0o600 });
  const environment = { BASA_AUTHORITY_DATABASE_URL: home.databaseUrl };
  const settings = [`witnessFile=${home.root}/rotating.witness`, `keyFile=${home.keyFile}`, 'port=0'];
  expect(await rotateVault({ environment, settings }, { keyFile })).toEqual({ masterKeys: 1 });
  expect((await buffer.askKey(old, 0)).status).toBe(500);
  await stop(old);
  await expect(start(nodeOf(home, 'node-0'))).rejects.toThrow('the key file does not open the keys');
  const fresh = await start(nodeOf({ ...home, keyFile }, 'node-0'));
  expect((await buffer.askKey(fresh, 0)).status).toBe(200);
});

it('a database that ends and comes back has lost nothing, and its nodes go on', async () => {
  const [first, second] = await startNodes(await postgres.freshHome(), 2);
  const buffer = await seated(first, await stage(first, 2));
  const key = await buffer.askKey(first, 0);
  await postgres.stop('kill');
  const request = buffer.keyRequest(1);
  const meanwhile = buffer.askKey(second, 1, request); // waits for the database as long as its patience lasts
  await postgres.restart();
  const { status } = await meanwhile;
  const again = await buffer.askKey(first, 1, request);
  expect(again.status).toBe(200);
  if (status === 200) expect((await meanwhile).bytes).toEqual(again.bytes);
  await buffer.close(second, buffer.closeRequest([0, 1], [key, again]));
  expect(await logOf(second)).toMatchObject({ problems: [], counts: { 'key-issued': 2, 'buffer-closed': 1 } });
});
