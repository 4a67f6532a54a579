/** The one-shot mode at authorities over HTTP: sums, noise, epochs, and long bodies. Its refusals are rows of a table in test/rules. */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { toSigned } from '@basa/masking';
import { granted } from '@basa/protocol';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { guardVerdict } from '@basa/protocol/internal/one-shot/server.ts';
import { hasGoodEndorsements } from '@basa/protocol/internal/wire/council.ts';
import { guardWordsOf } from '@basa/protocol/internal/wire/input.ts';
import { taskNoise } from '@basa/protocol/internal/wire/privacy.ts';
import { TaskPolicy } from '@basa/protocol/policy';
import { type Batch, Certificate, type Endorsement } from '@basa/protocol/wire';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { AuthorityScene } from '@basa/testkit/world/authority-scene.ts';
import type { SceneOptions } from '@basa/testkit/world/shots.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { shotLimits } from '../src/routes/shot-limits.ts';

const HOUR_MS = 3_600_000;
/** The weight of an update, in the word behind the guards. */
const UNIT = 2 ** 16;
const VECTOR = [{ part: 0, vector: true }];
const HASH = [{ part: 0, vector: false }];

let scene: AuthorityScene;
const sent: ClientRequest[] = [];
afterEach(async () => {
  for (const one of sent.splice(0)) one.destroy();
  await scene.close();
});

async function open(count: number, options: SceneOptions = {}): Promise<AuthorityScene> {
  scene = await AuthorityScene.open(count, options);
  return scene;
}

describe('a batch', () => {
  it('with one authority: without the masks the sum of the inputs remains, and every request may be repeated', async () => {
    const { world, shots } = await open(5);
    const { verdicts } = granted(await scene.inspectBy(0, shots));
    for (const [n, { body }] of shots.entries())
      expect(guardVerdict(world.policy, guardWordsOf(scene.unpacked(body)), [verdicts[n] as never])).toEqual({
        kind: 'good',
      });
    expect(verdicts.map(({ guards }) => guards.map(({ words }) => words.length))).toEqual(shots.map(() => [8]));
    for (const { upload } of shots)
      expect(hasGoodEndorsements(nodeSuite, Certificate, world.policy, upload.certificate)).toBe(true);
    const batch = scene.batch();
    const votes = await scene.votes(batch);
    expect([...(await scene.opened(batch, votes))]).toEqual([5, 0, 0, 0, 5 * UNIT, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]);
    const policy = TaskPolicy.encode(world.policy);
    for (const again of [
      () => scene.operate('POST', AUTHORITY_PATH.tasks, policy),
      () => scene.asServer(AUTHORITY_PATH.batchVotes(world.task), scene.voteRequest(batch)),
      () => scene.asServer(AUTHORITY_PATH.releases(world.task), scene.releaseRequest(batch, { votes, wanted: VECTOR })),
    ]) {
      const [first, second] = [await again(), await again()];
      expect([first.status, second]).toMatchObject([200, { status: 200, bytes: first.bytes }]);
    }
    const { tasks } = (await scene.operate('GET', AUTHORITY_PATH.tasks)).json();
    expect(tasks).toEqual([{ task: world.task, name: 'world 1', devices: 5 }]);
  });

  it('of a private task whose authority adds the noise has one Gaussian on each coordinate, the same for a repeated request', async () => {
    const privacy = { noiseMultiplier: 4, colluders: 0, budget: { delta: 1e-6, participations: 3 } };
    const { world } = await open(5, {
      oneShot: { authorityNoise: true },
      policy: { privacy, dimension: 400, level: 64 },
    });
    const batch = scene.batch();
    const votes = await scene.votes(batch);
    const total = await scene.opened(batch, votes);
    const { deviation = 0 } = taskNoise(world.policy) ?? {};
    expect([...guardWordsOf(total)]).toEqual([5, 0, 0, 0, 0, 0, 0, 0]);
    // The first coordinates have the updates.
    const noise = [...total.subarray(5 + 5, -4)].map((residue) => toSigned(residue, world.policy.modulus));
    const spread = Math.sqrt(noise.reduce((sum, value) => sum + value * value, 0) / noise.length);
    expect(spread / deviation).toBeGreaterThan(0.8);
    expect(spread / deviation).toBeLessThan(1.2);
    const before = await scene.epoch();
    world.elapse((3 * HOUR_MS) / 4);
    expect((await scene.epoch()).closes).toBeGreaterThan(before.closes);
    expect([...(await scene.opened(batch, votes))]).toEqual([...total]);
  });

  it('with three of four authorities is opened by the plan of the server', async () => {
    await open(3, { count: 4 });
    const batch = scene.batch();
    const total = await scene.opened(batch, await scene.votes(batch, [0, 1, 2]));
    expect([...total].slice(0, 9)).toEqual([3, 0, 0, 0, 3 * UNIT, 1, 1, 1, 0]);
  });

  it('of a request longer than small bodies are, which threads share, and of vectors beyond four mebibytes', async () => {
    const sealing = { sealing: 'x25519+mlkem768' } as const;
    const { world } = await open(42, {
      oneShot: sealing,
      policy: { bufferSize: 42, dimension: 50 },
      authority: { workers: 3 },
    });
    for (const isWide of [false, true]) {
      if (isWide) {
        scene.shots.length = 0;
        await world.createTask({ dimension: 1_100_000, level: 1, clip: 1 });
        await scene.epoch();
        await scene.give(2);
      }
      const batch = scene.batch();
      const votes = await scene.votes(batch);
      const { answer, vectors } = granted(await scene.releaseBy(0, batch, { votes, wanted: VECTOR }));
      expect([scene.releaseRequest(batch).length > 65_536, vectors.length > 4 * 2 ** 20]).toEqual([!isWide, isWide]);
      expect(answer.sums[0]?.hash).toEqual(nodeSuite.sha256(vectors));
      expect((await scene.opened(batch, votes))[0]).toBe(isWide ? 2 : 42);
    }
  });
});

/** Sends the head of a request, and its body if there is one, over a connection of its own. */
function sentTo(path: string, headers: Readonly<Record<string, string>>, body?: Uint8Array) {
  const head = { 'content-type': 'application/octet-stream', ...headers };
  const { url } = (scene.world.authorities[0] as (typeof scene.world.authorities)[number]).service;
  const asked = request(url + path, { method: 'POST', headers: head, agent: false });
  sent.push(asked);
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('error', reject);
    asked.once('response', resolve);
  });
  answer.catch(() => undefined); // those that are given up
  if (body === undefined) asked.flushHeaders();
  else asked.end(body);
  return { asked, answer };
}

async function textOf(answer: Promise<IncomingMessage>) {
  let text = '';
  for await (const piece of await answer) text += piece;
  return {
    ...(JSON.parse(text) as { status: number; type: string }),
    retryAfter: (await answer).headers['retry-after'],
  };
}

/** The headers with which the server of the task, or somebody else, signs a request. */
function signedBy(path: string, body: Uint8Array, signer = scene.world.serverSigner): Record<string, string> {
  const at = scene.world.now - 10 ** 10; // the clock of a server may be any
  const { publicKey } = scene.world.authorities[0] as (typeof scene.world.authorities)[number];
  const signed = signingDevice(signer).headers({ audience: publicKey, method: 'POST', target: path, body, at });
  return { 'content-length': String(body.length), ...signed };
}

describe('long requests', () => {
  it('are refused before their bodies come if the server of the task does not sign them', async () => {
    const { world } = await open(0);
    const path = AUTHORITY_PATH.releases(world.task);
    const body = new Uint8Array(50_000);
    for (const [headers, code] of [
      [{ 'content-length': '50000' }, 'unsigned'],
      [signedBy(path, body, createNodeSigner(nodeRandomBytes(32))), 'server-unknown'],
      [signedBy(AUTHORITY_PATH.inspections(world.task), body), 'request-signature-invalid'],
    ] as const)
      expect(await textOf(sentTo(path, headers).answer)).toMatchObject({ type: `urn:basa:problem:${code}` });
  });

  it('are refused if they are longer than the task allows, or have no declared length', async () => {
    const { world } = await open(0);
    for (const name of ['batchVotes', 'inspections', 'releases'] as const) {
      const path = AUTHORITY_PATH[name](world.task);
      expect((await scene.ask(path, new Uint8Array(2_000_000))).code).toBe('body-too-large');
      expect((await scene.asServer(path, new Uint8Array(64))).code).toBe('malformed');
      const { asked, answer } = sentTo(path, { 'transfer-encoding': 'chunked' });
      asked.write(new Uint8Array(64)); // its end never comes
      expect(await textOf(answer)).toMatchObject({ detail: expect.stringContaining('content-length is missing') });
    }
  });

  it('are put off while others of the task are under way, and served when those are over', async () => {
    const { world } = await open(0);
    const path = AUTHORITY_PATH.releases(world.task);
    const body = new Uint8Array(shotLimits.release(world.policy));
    const headed = (more: object = {}) => sentTo(path, { ...signedBy(path, body), ...more });
    const many = Math.floor(shotLimits.together(world.policy) / body.length);
    const fitting = Array.from({ length: many }, () => headed({ expect: '100-continue' }));
    await Promise.all(fitting.map(({ asked }) => once(asked, 'continue'))); // each has its room
    const late = await textOf(headed().answer);
    expect(late).toMatchObject({ status: 503, type: 'urn:basa:problem:overloaded', retryAfter: '1' });
    for (const { asked } of fitting) asked.destroy();
    await expect.poll(async () => (await scene.asServer(path, body)).code).toBe('malformed');
  });
});

describe('long answers', () => {
  /** A final batch of two tasks of one authority: of this dimension, and a small one. */
  async function twoBatches(dimension: number) {
    const { world } = await open(2, { policy: { dimension }, authority: { workers: 1 } });
    const final = async () => {
      const [task, batch] = [world.task, scene.batch()];
      const votes = await scene.votes(batch);
      const asking = (wanted: typeof VECTOR) => scene.releaseRequest(batch, { votes, wanted });
      const requests = { vector: asking(VECTOR), hash: asking(HASH) };
      const path = AUTHORITY_PATH.releases(task);
      return {
        path,
        body: requests.vector,
        release: (what: 'vector' | 'hash') => scene.asServer(path, requests[what]),
      };
    };
    const long = await final();
    scene.shots.length = 0;
    await world.createTask({ dimension: 8, level: 1, clip: 1 });
    await scene.epoch();
    await scene.give(2);
    return { long, other: await final() };
  }

  it('that are not read count until their receivers are gone, and another task gets its sums', async () => {
    // Longer than what a connection holds for a receiver that does not read.
    const { long, other } = await twoBatches(3_200_000);
    const unread = [];
    for (let n = 0; n < 2; n++) {
      unread.push(sentTo(long.path, signedBy(long.path, long.body), long.body));
      expect((await unread[n]?.answer)?.statusCode).toBe(200);
    }
    expect(await long.release('vector')).toMatchObject({ status: 503, code: 'overloaded' });
    expect((await other.release('vector')).status).toBe(200);
    expect((await long.release('hash')).status).toBe(200); // a hash needs no room
    unread[0]?.asked.destroy();
    await expect.poll(async () => (await long.release('vector')).status).toBe(200);
  }, 60_000);
});

it('epochs open a quarter before the end of the one before, and end an epoch after they closed', async () => {
  const { world } = await open(3);
  const begun = world.now;
  const batch: Batch = scene.batch();
  const votes: readonly Endorsement[] = await scene.votes(batch);
  const { service } = world.authorities[0] as (typeof world.authorities)[number];
  const opens = [];
  const first = (await scene.epoch()).opens;
  for (let quarter = 0; quarter < 8; quarter++) {
    await service.tick();
    opens.push(((await scene.epoch()).opens - first) / HOUR_MS);
    world.elapse(quarter === 7 ? first + 2 * HOUR_MS - 1 - world.now : HOUR_MS / 4);
  }
  expect(opens).toEqual([0, 0, 0, 0.75, 0.75, 0.75, 1.5, 1.5]);
  expect(world.now).toBeGreaterThan(begun);
  expect(await scene.releaseBy(0, batch, { votes, wanted: VECTOR })).not.toHaveProperty('reason');
  world.elapse(1);
  await service.tick();
  expect(await scene.releaseBy(0, batch, { votes, wanted: VECTOR })).toMatchObject({
    reason: 'epoch-over',
    uploads: [0, 1, 2],
  });
});
