/** The clients for Node and in Python refuse every lie of the table, and survive failing services and kills. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BasaClient } from '@basa/client/node';
import { ServerOperator } from '@basa/client/operator';
import { type ClientEnd, commandClient, type StartClient } from '@basa/conformance/client-under-test.ts';
import { updateOf } from '@basa/conformance/exact-updates.ts';
import { LIES, problemAnswer, showing, told } from '@basa/conformance/lies.ts';
import { ITSELF, isUpload, Scene, type Stage } from '@basa/conformance/scene.ts';
import type { Asked } from '@basa/conformance/service-proxy.ts';
import { FIELD, packedLength, RING_32, ring, toHex, unpackVector } from '@basa/masking';
import { millis } from '@basa/protocol';
import { HEADER } from '@basa/protocol/http';
import { inputElements, prefixElements } from '@basa/protocol/internal/wire/input.ts';
import type { TaskPolicy } from '@basa/protocol/policy';
import { ROOT } from '@basa/testkit/root.ts';
import { TestServices } from '@basa/testkit/services/test-services.ts';
import { OPERATOR_TOKEN } from '@basa/testkit/world/operator.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const PYTHON = process.env['BASA_PYTHON'] ?? 'python3';
const hasPython = spawnSync(PYTHON, ['-c', 'import cryptography, numpy']).status === 0;
if (!hasPython) console.warn(`the client in Python is not tested: ${PYTHON} with cryptography and numpy is not there`);
const CLIENTS: readonly (readonly [name: string, start: StartClient])[] = [
  ['Node', nodeClient],
  ...(hasPython ? [['Python', pythonClient] as const] : []),
];
/** Beside the Node devices that fill a batch, the client's own update and its second one. */
const SECOND = 4;

let services: TestServices;
let stage: Stage;
let scene: Scene;

beforeAll(async () => {
  const usual = { maxSkewMs: 300_000 };
  services = await TestServices.open({ count: 4, server: usual, authority: usual });
  stage = {
    serverUrl: services.server.url,
    serverKey: services.server.publicKey,
    authorities: services.authorities,
    server: new ServerOperator({
      url: services.server.url,
      token: OPERATOR_TOKEN,
      signal: new AbortController().signal,
    }),
    operatorToken: OPERATOR_TOKEN,
    folder: services.folder,
    elapse: (ms) => services.elapse(ms),
  };
});
afterAll(() => services.close());
afterEach(() => scene.close());

/** In this process, as `basa client --update` runs it. Killed, it stops in the middle. */
function nodeClient(settings: Readonly<Record<string, string>>) {
  const killing = new AbortController();
  return { ended: contribute(settings, killing.signal), kill: () => killing.abort() };
}

async function contribute(settings: Readonly<Record<string, string>>, signal: AbortSignal): Promise<ClientEnd> {
  const { BASA_SERVER: server = '', BASA_AUTHORITY: authority = '', BASA_AUTHORITY_KEY: authorityKey = '' } = settings;
  const { BASA_TASK: task = '', BASA_ENROLMENT_TOKEN: token = '', BASA_IDENTITY: identity = '' } = settings;
  const pieceBytes = Number(settings['BASA_PIECE_BYTES']);
  const retry = { firstWaitMs: 1 };
  const floor = { minimum: 2, noNoise: true };
  const options = { server, authority, authorityKey, task, token, identity, pieceBytes, retry, signal, floor };
  try {
    const client = await BasaClient.connect(options);
    try {
      const delta = new Float32Array(new Uint8Array(readFileSync(settings['BASA_UPDATE'] as string)).buffer);
      const { version } = await client.model({ signal });
      const result = await client.contribute(delta, { trainedOn: version, signal });
      return result.kind === 'accepted' ? { code: 0, output: '' } : { code: 1, output: result.reason };
    } finally {
      await client.close();
    }
  } catch (error) {
    const { code = '' } = error as { readonly code?: string };
    return { code: signal.aborted ? null : 1, output: `${code} ${String(error)}` };
  }
}

function pythonClient(settings: Readonly<Record<string, string>>) {
  const PYTHONPATH = join(ROOT, 'clients/python');
  return commandClient([PYTHON, '-m', 'basa'])({ PYTHONPATH, BASA_MINIMUM: '2', BASA_NO_NOISE: '1', ...settings });
}

async function open(start: StartClient, change: Partial<TaskPolicy> = {}, count: 1 | 4 = 1): Promise<void> {
  scene = await Scene.open(stage, start, change, count);
}

async function isExact(): Promise<void> {
  await scene.peer(0);
  await scene.peer(2);
  expect(await scene.sumProblem([0, ITSELF, 2])).toBeUndefined();
}

describe.each(CLIENTS)('the client for %s refuses', (_, start) => {
  it.each(LIES.map((lie) => [lie.name, lie] as const))('%s', async (__, lie) => {
    await open(start, lie.policy, lie.authorities === 4 ? 4 : 1);
    const { code, output, uploads } = await told(lie, scene);
    expect({ code, output, uploads }).toEqual({ code: 1, output: expect.stringContaining(lie.refusal), uploads: 0 });
  });
});

describe.each(CLIENTS)('the client for %s', (_, start) => {
  it('gives one masked update a version, sealed only to keys that their authorities signed', async () => {
    await open(start, {}, 4);
    showing(scene, ({ epochs, ...shown }) => ({
      ...shown,
      epochs: epochs.map((one) =>
        one.authority === 1 ? { ...one, opens: millis(one.opens - 1), closes: millis(one.closes - 1) } : one,
      ),
    }));
    const { code, output } = await scene.run();
    scene.server.behave();
    expect({ code, output }).toMatchObject({ code: 0, output: expect.not.stringContaining(scene.token) });
    expect(scene.uploads.map(({ epochs }) => epochs.map(({ authority }) => authority))).toEqual([[0, 2, 3]]);
    expect(plainEntries()).toEqual({ requests: [], entries: [] });
    expect(await scene.run({ participant: SECOND })).toMatchObject({
      code: 1,
      output: expect.stringContaining('version-given'),
    });
    await isExact();
    expect(await scene.run({ participant: SECOND })).toMatchObject({ code: 0 });
    expect(new Set(scene.uploads.map(({ model }) => toHex(model))).size).toBe(2);
  });

  it('sends the same bytes after 503 and lost answers, each signed anew', async () => {
    await open(start, { modulus: ring(20), level: 2 ** 12 });
    const asked: Asked[] = [];
    scene.server.onAsk = (request) => {
      if (!isUpload(request)) return undefined;
      asked.push(request);
      return asked.length === 1 ? problemAnswer('stopping', 1) : undefined;
    };
    scene.server.onAnswer = (request, answer) => (isUpload(request) && asked.length === 2 ? 'cut' : answer);
    expect(await scene.run()).toMatchObject({ code: 0 });
    expect(asked.length).toBeGreaterThan(2);
    expect(new Set(asked.map(({ headers }) => headers[HEADER.nonce])).size).toBe(asked.length);
    expect(scene.uploads).toHaveLength(1);
    await isExact();
  });

  it('resumes after a kill at the byte where the server stands, if its upload has that byte', async () => {
    await open(start, { modulus: FIELD });
    await killedAtItsSecondPiece();
    const before = scene.pieces.length;
    scene.server.onAnswer = (asked, answer) =>
      asked.method === 'HEAD' ? { ...answer, headers: { ...answer.headers, 'upload-offset': '1000000000' } } : answer;
    expect(await scene.run()).toMatchObject({ code: 1 });
    expect(scene.pieces).toHaveLength(before);
    scene.server.behave();
    expect(await scene.run()).toMatchObject({ code: 0 });
    expect(scene.uploads).toHaveLength(1);
    const sent = scene.pieces.slice(before).reduce((total, { body }) => total + body.length, 0);
    expect(sent).toBeLessThan(uploaded().length);
    await isExact();
  });
});

async function killedAtItsSecondPiece(): Promise<void> {
  const client = await scene.start();
  let count = 0;
  scene.server.onAnswer = (asked, answer) => {
    if (!isUpload(asked) || ++count < 2) return answer;
    client.kill();
    return 'cut';
  };
  expect((await client.ended).code).not.toBe(0);
  scene.server.behave();
}

/** The whole body out of its pieces. */
function uploaded(): Uint8Array {
  const body: number[] = [];
  for (const piece of scene.pieces)
    piece.body.forEach((byte, n) => {
      body[Number(piece.headers[HEADER.uploadOffset]) + n] = byte;
    });
  return Uint8Array.from(body);
}

/** The requests that hold the update as it was given or quantised, and the entries of the upload that are as quantised, beyond chance. */
function plainEntries() {
  const { level, clip } = scene.policy;
  const update = updateOf(ITSELF, scene.policy);
  const quantised = Int32Array.from(update, (value) => Math.max(-clip, Math.min(clip, value)) * level);
  const telling = [update, quantised].map((plain) => toHex(new Uint8Array(plain.buffer, 0, 64)));
  const requests = scene.asked.filter(({ body }) => telling.some((hex) => toHex(body).includes(hex)));
  const prefix = prefixElements(scene.policy);
  const elements = inputElements(scene.policy);
  const packed = uploaded().subarray(0, packedLength(elements, RING_32));
  const y = unpackVector(packed, elements, RING_32);
  const bare = quantised.filter((value, k) => y.kind !== 'vector' || y.vector[prefix + k] === value >>> 0);
  return { requests: requests.map(({ path }) => path), entries: bare.length < 3 ? [] : [...bare] };
}
