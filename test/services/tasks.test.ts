/** Tasks over their life: side by side, paused, evaluated, ended, and taken up again as if nothing had happened. */
import { readdirSync } from 'node:fs';
import type { BasaClient } from '@basa/client/node';
import { WHOLE_STEP } from '@basa/conformance/whole-step.ts';
import { defineModel, dense, encodeDataset, manifestText } from '@basa/learning';
import { ascii, toHex } from '@basa/masking';
import { SERVER_PATH } from '@basa/protocol/http';
import { TaskPolicy } from '@basa/protocol/policy';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { countsOf, oneHot, READER, TestServices, testPolicy, until } from '@basa/testkit/services/test-services.ts';
import { OPERATOR_TOKEN } from '@basa/testkit/world/operator.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let services: TestServices;
beforeAll(async () => {
  services = await TestServices.open({ policy: { bufferSize: 2 } });
});
afterAll(() => services.close());

const pair = (task = services.task): Promise<BasaClient[]> =>
  Promise.all(['a', 'b'].map((name) => services.client(name, { task })));

async function contributeAll(clients: readonly BasaClient[], delta: (n: number) => Float32Array, trainedOn = 0) {
  for (const client of clients) await client.model();
  const results = await Promise.all(clients.map((client, n) => client.contribute(delta(n), { trainedOn })));
  expect(results.map(({ kind }) => kind)).toEqual(clients.map(() => 'accepted'));
}

function putState(state: 'paused' | 'running' | 'finished'): Promise<{ state: string }> {
  return services.operate(services.server.url, 'PUT', SERVER_PATH.taskState(services.task), { state });
}

async function asOperator(path: string, body: object, method = 'POST'): Promise<{ status: number; text: string }> {
  const isBytes = body instanceof Uint8Array;
  const response = await fetch(new URL(path, services.server.url), {
    method,
    headers: {
      authorization: `Bearer ${OPERATOR_TOKEN}`,
      'content-type': isBytes ? 'application/octet-stream' : 'application/json',
    },
    body: isBytes ? body.slice() : JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

it('two tasks keep their updates, models and devices apart', async () => {
  const one = await services.createTask();
  const two = await services.createTask({ dimension: 5 });
  const [ones, twos] = [await pair(one), await pair(two)];
  await Promise.all([contributeAll(ones, (n) => oneHot(n)), contributeAll(twos, (n) => oneHot(4 - n, 5))]);
  expect(countsOf(await services.reached(1, one), 2)).toEqual([1, 1, 0, 0, 0, 0, 0, 0]);
  expect(countsOf(await services.reached(1, two), 2)).toEqual([0, 0, 0, 1, 1]);
  const { tasks } = await services.operate<{ tasks: { task: string }[] }>(
    services.server.url,
    'GET',
    SERVER_PATH.tasks,
  );
  expect(tasks.map(({ task }) => task)).toEqual(expect.arrayContaining([one, two]));
});

it('a paused task takes no uploads, and continues when it is resumed, also after a restart', async () => {
  await services.createTask();
  const [a] = await pair();
  expect(await putState('paused')).toMatchObject({ state: 'paused' });
  await services.restartServer();
  const no = await a?.contribute(oneHot(0), { trainedOn: 0 });
  expect(no).toMatchObject({ reason: 'task-paused', retryAfterMs: 30_000 });
  expect(await putState('running')).toMatchObject({ state: 'running' });
  expect(await a?.contribute(oneHot(0), { trainedOn: 0 })).toMatchObject({ kind: 'accepted' });
});

describe('a task ends', () => {
  it('at its last version', async () => {
    await services.createTask({}, { stop: { version: 1 } });
    const clients = await pair();
    await contributeAll(clients, (n) => oneHot(n));
    await until(async () => (await services.taskState()).state === 'finished');
    expect((await services.taskState()).why).toBe('version 1 reached');
    await clients[0]?.model();
    await expect(clients[0]?.contribute(oneHot(5), { trainedOn: 1 })).rejects.toMatchObject({
      code: 'task-finished',
      detail: 'version 1 reached',
    });
    await expect(putState('running')).rejects.toThrow('410');
  });

  it('when an operator finishes it, for good; then it can be removed, and stays removed', async () => {
    const kept = services.task;
    const task = await services.createTask();
    await contributeAll(await pair(task), (n) => oneHot(n));
    await services.reached(1, task);
    expect((await asOperator(SERVER_PATH.task(task), {}, 'DELETE')).text).toContain('finish it');
    expect(await putState('finished')).toMatchObject({ state: 'finished', why: 'an operator finished it' });
    expect(await putState('finished')).toMatchObject({ state: 'finished' });
    await expect(putState('running')).rejects.toThrow('410');
    await until(async () => (await services.taskState()).batches === 0);
    expect(JSON.parse((await asOperator(SERVER_PATH.task(task), {}, 'DELETE')).text)).toMatchObject({ removed: true });
    const asked = async () =>
      (await fetch(new URL(SERVER_PATH.model(task, 1), services.server.url), { headers: READER })).status;
    expect(await asked()).toBe(404);
    await services.restartServer();
    expect(await asked()).toBe(404);
    expect((await fetch(new URL(SERVER_PATH.task(kept), services.server.url))).status).toBe(200);
  });

  it('when its time is over', async () => {
    await services.createTask({}, { stop: { afterMs: 100_000 } });
    expect((await services.taskState()).state).toBe('running');
    services.elapse(100_000);
    await until(async () => (await services.taskState()).state === 'finished');
  });

  it('when it is accurate enough on the held-out examples', async () => {
    const model = defineModel('tiny', { height: 1, width: 1, channels: 2 }, [dense(2)]);
    const { dimension, input } = model;
    const manifestHash = nodeSuite.sha256(ascii(manifestText(model)));
    const parameters = toHex(new Uint8Array(4 * dimension));
    const layers = model.layers.map(({ layer }) => layer);
    const specification = {
      model: { name: 'tiny', input, layers },
      initial: { parameters },
      stop: { accuracy: 0.9 },
    };
    await services.createTask({ dimension, manifestHash }, specification);
    const examples = {
      name: 'two corners',
      shape: input,
      classes: 2,
      inputs: Float32Array.of(1, 0, 0, 1, 2, 0, 0, 2),
      labels: Uint8Array.of(0, 1, 0, 1),
    };
    const path = SERVER_PATH.evaluationSet(services.task);
    const bad = { ...examples, labels: Uint8Array.of(0, 1, 0, 7) };
    expect((await asOperator(path, encodeDataset(bad), 'PUT')).text).toContain('label 7');
    expect((await asOperator(path, nodeRandomBytes(100), 'PUT')).status).toBe(400);
    expect(JSON.parse((await asOperator(path, encodeDataset(examples), 'PUT')).text)).toEqual({ samples: 4 });
    expect(await services.taskState()).toMatchObject({ state: 'running', accuracy: 0.5 }); // always the first class
    // Other examples take the place of the first ones, also for the worker that has read those.
    const turned = { ...examples, labels: Uint8Array.of(1, 1, 1, 1) };
    await asOperator(path, encodeDataset(turned), 'PUT');
    expect((await services.taskState()).accuracy).toBe(0);
    await asOperator(path, encodeDataset(examples), 'PUT');
    const delta = new Float32Array(dimension);
    delta[0] = -1; // weights are [outputs, inputs]
    delta[3] = -1;
    await contributeAll(await pair(), (n) => delta.map((value) => value / (n + 1)));
    await until(async () => (await services.taskState()).state === 'finished');
    expect(await services.taskState()).toMatchObject({ accuracy: 1, why: 'accuracy 1.0000 reached at version 1' });
  });
});

describe('first parameters', () => {
  const numbers = Float32Array.from({ length: 8 }, (_, n) => n / 8);
  const bytes = new Uint8Array(numbers.buffer);
  const sha256 = toHex(nodeSuite.sha256(bytes));
  const blobs = () =>
    readdirSync(services.folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /first.[0-9a-f]{64}$/.test(name))
      .map((name) => name.slice(-64));

  it('are sent as bytes before their task, and are its version 0', async () => {
    const answer = await asOperator(SERVER_PATH.firstParameters, bytes, 'PUT');
    expect(JSON.parse(answer.text)).toEqual({ sha256 });
    await services.createTask({}, { initial: { sha256 } });
    expect(await services.reached(0)).toEqual(numbers);
    expect(blobs()).toEqual([]);
    await asOperator(SERVER_PATH.firstParameters, bytes, 'PUT');
    expect(blobs()).toEqual([sha256]);
    await services.restartServer();
    expect(blobs()).toEqual([]); // no task needs them
  });

  it.each([
    ['that are not finite', Float32Array.of(1, Number.NaN)],
    ['that are no whole numbers of four bytes', new Uint8Array(5)],
  ])('%s are refused', async (_, wrong) => {
    const body = new Uint8Array(wrong.buffer, wrong.byteOffset, wrong.byteLength);
    expect((await asOperator(SERVER_PATH.firstParameters, body, 'PUT')).status).toBe(400);
  });

  it('are of an operator, of the length of the policy, and there when the task is created', async () => {
    const url = new URL(SERVER_PATH.firstParameters, services.server.url);
    const headers = { 'content-type': 'application/octet-stream' };
    expect((await fetch(url, { method: 'PUT', headers, body: bytes })).status).toBe(401);
    const create = (initial: { readonly sha256: string }) => services.createTask({}, { initial });
    await expect(create({ sha256: '00'.repeat(32) })).rejects.toThrow('send the first parameters before the task');
    const short = (await asOperator(SERVER_PATH.firstParameters, bytes.subarray(4), 'PUT')).text;
    await expect(create(JSON.parse(short) as { sha256: string })).rejects.toThrow('28 bytes, but the policy has 8');
  });
});

describe("the operator's own score of a version", () => {
  const told = { name: 'f1', score: 0.75, loss: 2 };
  const put = (body: object, version: number | string = 0) =>
    asOperator(SERVER_PATH.evaluation(services.task, version), body, 'PUT');

  it('is stored, replaced and shown to readers only, also after a restart', async () => {
    await services.createTask();
    expect((await put({ name: 'first', score: -3 })).status).toBe(200);
    expect(JSON.parse((await put(told)).text)).toEqual(told);
    await services.restartServer();
    const shown = async (path: string, headers: Record<string, string>) =>
      (await fetch(new URL(path, services.server.url), { headers })).json();
    const task = SERVER_PATH.task(services.task);
    expect(await shown(task, READER)).toMatchObject({ version: 0, evaluation: told });
    expect(await shown(task, {})).not.toHaveProperty('evaluation');
    const { versions } = (await shown(SERVER_PATH.taskMetrics(services.task), READER)) as { versions: object[] };
    expect(versions).toMatchObject([{ version: 0, evaluation: told }]);
  });

  it.each([
    ['without a name', { score: 1 }],
    ['with a name for a spreadsheet', { name: '=1+1', score: 1 }],
    ['with a long name', { name: 'a'.repeat(33), score: 1 }],
    ['with a score that is no number', { name: 'f1', score: null }],
    ['with another field', { ...told, accuracy: 1 }],
  ])('is refused %s', async (_, body) => {
    expect((await put(body)).status).toBe(400);
  });

  it('is refused if it is not finite, of no version, or of somebody who is no operator', async () => {
    const path = SERVER_PATH.evaluation(services.task, 0);
    const ask = (body: string, headers: Record<string, string>) =>
      fetch(new URL(path, services.server.url), {
        method: 'PUT',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      });
    expect((await ask('{"name":"f1","score":1e999}', READER)).status).toBe(400);
    expect((await put(told, 7)).status).toBe(404);
    expect((await ask(JSON.stringify(told), {})).status).toBe(401);
  });
});

it('momentum outlives a restart: the same updates give the same bits', async () => {
  const serverStep = { kind: 'fedavg', rate: 0.3, momentum: 0.9 } as const;
  const models: Float32Array[] = [];
  for (const isRestarted of [false, true]) {
    await services.createTask({}, { serverStep });
    const clients = await pair();
    for (const version of [0, 1, 2]) {
      await contributeAll(clients, (n) => oneHot((version + n) % 8), version);
      await services.reached(version + 1);
      if (isRestarted) await services.restartServer();
    }
    models.push(await services.reached(3));
  }
  expect(models[1]).toEqual(models[0]);
  // Without memory the third step would not still move a coordinate that only the first one moved.
  expect(Math.abs((models[0]?.[0] ?? 0) / (0.3 / 2))).toBeCloseTo(1 + 0.9 + 0.81, 5);
});

describe('a task is refused', () => {
  const policy = (change: object) => toHex(TaskPolicy.encode({ ...testPolicy(services.keys), ...change }));
  it.each([
    ['with an invalid policy', () => ({ policy: 'abcd' }), 400, ''],
    [
      'that the authority does not know',
      () => ({ policy: policy({}) }),
      404,
      'the authorities must know the policy first',
    ],
    ['of another server', () => ({ policy: policy({ serverKey: new Uint8Array(32) }) }), 422, 'serverKey'],
    ['with a key that is not known', () => ({ policy: policy({}), colour: 1 }), 400, 'colour'],
    ['with a word on training, which is the policy’s', () => ({ policy: policy({}), training: {} }), 400, 'training'],
    ['with too few parameters', () => ({ policy: policy({}), initial: { parameters: '00' } }), 422, '8 floats'],
    [
      'with parameters that are no numbers',
      () => ({ policy: policy({}), initial: { parameters: 'ff'.repeat(32) } }),
      422,
      'not finite',
    ],
    [
      'with a model of another dimension',
      () => ({ policy: policy({}), model: { input: { height: 1, width: 1, channels: 1 }, layers: [dense(2)] } }),
      422,
      'model has 4 parameters, but the policy has 8',
    ],
    [
      'with a layer that does not exist',
      () => ({
        policy: policy({}),
        model: { input: { height: 1, width: 1, channels: 1 }, layers: [{ kind: 'wave' }] },
      }),
      422,
      'there is no kind \\"wave\\"',
    ],
    [
      'in the mode of the paper without its option',
      () => ({ policy: policy({}), mode: 'paper' }),
      422,
      'unsafePaperMode',
    ],
  ])('%s', async (_, specification, status, words) => {
    const told = await asOperator(SERVER_PATH.tasks, specification());
    expect(told).toMatchObject({ status, text: expect.stringContaining(words) });
  });

  it('with other settings than before; with the same ones it is the same', async () => {
    await services.createTask();
    const same = { policy: toHex(TaskPolicy.encode(services.policy)), serverStep: WHOLE_STEP };
    expect((await asOperator(SERVER_PATH.tasks, same)).status).toBe(200);
    expect((await asOperator(SERVER_PATH.tasks, { ...same, stallMs: 5 })).text).toContain('task-exists');
  });
});
