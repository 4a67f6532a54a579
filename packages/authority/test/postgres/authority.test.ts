/** Several nodes of one authority on one PostgreSQL are one authority: each vote once, one log. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromHex, toHex } from '@basa/masking';
import { AUTHORITY_PATH, headCodec } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { expect, it } from 'vitest';
import { type Authority, rotateVault } from '../../src/index.ts';
import { type Answer, ask, askAs, newDevice, userOf } from '../asking.ts';
import { PAPER } from '../conformance/paper.ts';
import { nodeOf, OPERATOR, start, stop, time } from '../homes.ts';
import { finalBatch, shotScene, shotStage, standOf } from '../one-shot/shot-world.ts';
import { authorityNodes, logOf, startNodes } from './nodes.ts';

const { postgres } = authorityNodes();

function only<Value>(values: readonly Value[], nameOf: (value: Value) => string): Value {
  expect(new Set(values.map(nameOf)).size).toBe(1);
  return values[0] as Value;
}

const hexOf = ({ bytes }: Answer): string => toHex(bytes);

it('three nodes that start together are one authority: a request to all of them takes effect once', async () => {
  const nodes = await startNodes(await postgres().freshHome(), 3);
  const [first, second] = nodes;
  only(nodes, ({ publicKey }) => toHex(publicKey));
  const { world, epochs, uploads } = await shotScene(first, 6);
  const heads: string[] = [];
  const fromAll = async (request: (node: Authority) => Promise<Answer>): Promise<readonly Answer[]> => {
    const answers = await Promise.all(nodes.map(request));
    heads.push(...answers.map(({ head }) => head));
    return answers;
  };
  for (const node of nodes) await world.inspected(node, uploads, epochs);
  const pairs = [0, 2, 4].map((from) => uploads.slice(from, from + 2));
  await Promise.all(
    pairs.slice(0, 2).map(async (pair, number) => {
      const request = world.voteRequest(world.batchOf(pair, number));
      only(await fromAll((node) => world.vote(node, request)), hexOf);
    }),
  );

  // Each node is asked for another batch of the same uploads at the same time: one of them gets the vote.
  const requests = nodes.map((_, n) => world.voteRequest(world.batchOf(pairs[2] ?? [], 2 + n)));
  const contested = await fromAll((node) => world.vote(node, requests[nodes.indexOf(node)] as Uint8Array));
  expect(contested.map(({ code }) => code)).toEqual([undefined, undefined, undefined]);
  for (const request of requests) only(await fromAll((node) => world.vote(node, request)), hexOf);

  // An acknowledgement of one node holds on the others at once.
  const { device } = world.enrolled[1] as (typeof world.enrolled)[number];
  await ask(first, AUTHORITY_PATH.revocations, { body: { user: toHex(userOf(device)) }, token: OPERATOR });
  expect((await world.enrolment(device, second)).code).toBe('revoked');
  for (const { tasks } of (await fromAll((node) => ask(node, AUTHORITY_PATH.tasks, { token: OPERATOR }))).map(
    (answer) => answer.json() as { tasks: { devices: number }[] },
  )) {
    expect(tasks).toMatchObject([{ devices: 5 }]);
  }

  const reports = await Promise.all(nodes.map(logOf));
  expect(reports.map(({ problems }) => problems)).toEqual([[], [], []]);
  const report = only(reports, ({ head }) => String(head));
  expect(report.counts).toMatchObject({ 'epoch-opened': 1, 'batch-final': 3, 'branch-begun': 0 });
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

it('tokens are used once, and a device enrolled at one node is known at another', async () => {
  const [first, second] = await startNodes(await postgres().freshHome(), 2);
  const world = await shotStage([first], 0);
  const tokensPath = AUTHORITY_PATH.tokens(world.task);
  const made = await ask(first, tokensPath, { body: { count: 1, endsAt: time.now + 1000 }, token: OPERATOR });
  const [token] = made.json().tokens as string[];
  const devices = [newDevice(), newDevice()] as const;
  const path = AUTHORITY_PATH.enrolments(world.task);
  const answers = await Promise.all([
    askAs(devices[0], first, path, { token }),
    askAs(devices[1], second, path, { token }),
  ]);
  expect(answers.map(({ code }) => code ?? 'enrolled').sort()).toEqual(['enrolled', 'enrolment-token-invalid']);
  const [winner, elsewhere] = answers[0].status === 200 ? [0, second] : [1, first];
  const again = await world.enrolment(devices[winner] as (typeof devices)[0], elsewhere);
  expect(again.bytes).toEqual((answers[winner] as Answer).bytes);
});

it('a new node joins if its operator says so; otherwise, without a witness, all epochs are dead', async () => {
  const home = await postgres().freshHome();
  const first = await start(nodeOf(home, 'first'));
  const scene = await shotScene(first, 2);
  const joined = await start(nodeOf(home, 'joined'), { newNode: true });
  expect(await standOf(joined, scene)).toBe('live');
  await stop(joined);
  await stop(await start(nodeOf(home, 'joined'))); // by its own witness now
  expect(await standOf(first, scene)).toBe('live');
  await start(nodeOf(home, 'stranger'));
  expect(await standOf(first, scene)).toBe('dead');
});

it('nodes that are asked at once for the key of a task in paper mode have the same one', async () => {
  const home = await postgres().freshHome();
  const nodes = await Promise.all(
    ['one', 'two'].map((name) => start(nodeOf(home, name), { unsafePaperMode: true, newNode: true })),
  );
  const path = AUTHORITY_PATH.unsafePaperSealingKey((await shotStage(nodes.slice(0, 1), 0, PAPER)).task);
  only(await Promise.all(nodes.map((node) => ask(node, path))), hexOf);
});

it('keys that were sealed again open with the new secret at every node; a node that still has the old secret votes for nothing', async () => {
  const home = await postgres().freshHome();
  const old = await start(nodeOf(home, 'node-0'));
  const scene = await shotScene(old, 2);
  const { world, epochs, uploads } = scene;
  await world.inspected(old, uploads, epochs);
  const keyFile = join(home.root, 'new-key');
  writeFileSync(keyFile, nodeRandomBytes(32), { mode: 0o600 });
  const environment = { BASA_AUTHORITY_DATABASE_URL: home.databaseUrl };
  const settings = [`witnessFile=${home.root}/rotating.witness`, `keyFile=${home.keyFile}`, 'port=0'];
  expect(await rotateVault({ environment, settings }, { keyFile })).toEqual({ sealedKeys: 1 });
  expect((await world.vote(old, world.voteRequest(world.batchOf(uploads)))).status).toBe(500);
  await stop(old);
  await expect(start(nodeOf(home, 'node-0'))).rejects.toThrow('the key file does not open the keys');
  const fresh = await start(nodeOf({ ...home, keyFile }, 'node-0'));
  expect((await finalBatch(fresh, scene)).votes).toHaveLength(1);
});
