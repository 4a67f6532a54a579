/** Several nodes of one authority on one PostgreSQL are one authority: each key once, one log. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromHex, toHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  type BufferPart,
  type DrawnBuffer,
  drawnBufferCodec,
  epochKeyOf,
  headCodec,
} from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { expect, it } from 'vitest';
import { type Authority, rotateVault } from '../../src/index.ts';
import { type Answer, ask, askAs, newDevice, userOf } from '../asking.ts';
import { nodeOf, OPERATOR, start, stop, time } from '../homes.ts';
import { seated, stage, TestBuffer } from '../parties.ts';
import { authorityNodes, logOf, startNodes } from './nodes.ts';

const { postgres, backdoor } = authorityNodes();

function only<Value>(values: readonly Value[], nameOf: (value: Value) => string): Value {
  expect(new Set(values.map(nameOf)).size).toBe(1);
  return values[0] as Value;
}

const hexOf = ({ bytes }: Answer): string => toHex(bytes);

it('three nodes that start together are one authority: a request to all of them takes effect once', async () => {
  const nodes = await startNodes(await postgres().freshHome(), 3);
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
  // One master key for the task and epoch, whichever node draws.
  only(drawn, ({ descriptor }) => toHex(epochKeyOf(world.server.policy, descriptor.parts[0] as BufferPart)));

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

  // An acknowledgement of one node holds on the others at once.
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
  const [first, second] = await startNodes(await postgres().freshHome(), 2);
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

it('a new node joins if its operator says so; otherwise, without a witness, all open buffers are given up', async () => {
  const home = await postgres().freshHome();
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

it('the key of an epoch that is over is wiped in every node', async () => {
  const home = await postgres().freshHome();
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

it('keys that were sealed again open with the new secret at every node; a node that still has the old secret issues nothing', async () => {
  const home = await postgres().freshHome();
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
