/** `createTask` of `@basa/client/operator`, against both services. */
import { BasaClient } from '@basa/client/node';
import {
  AuthorityOperator,
  type CreateTaskOptions,
  createTask,
  ProblemError,
  SettingsError,
  TASK_DEFAULTS,
  UnreachableError,
} from '@basa/client/operator';
import { defineModel, dense, initialParameters, type Model, manifestText, relu } from '@basa/learning';
import { ascii, toHex } from '@basa/masking';
import { SERVER_PATH } from '@basa/protocol/http';
import { ONE_SHOT_DEFAULTS } from '@basa/protocol/policy';
import { nodeSuite } from '@basa/runtime/node';
import { freePort } from '@basa/service/free-port';
import { READER, TestServices } from '@basa/testkit/services/test-services.ts';
import { OPERATOR_TOKEN } from '@basa/testkit/world/operator.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const model = defineModel('mine', { height: 1, width: 1, channels: 4 }, [dense(6), relu, dense(3)]);
/** Like a network of another library, which is described only by its tensors. */
const foreign: Model = { ...model, name: 'theirs', layers: [] };
const examples = {
  name: 'two',
  shape: model.input,
  classes: 3,
  inputs: Float32Array.from({ length: 8 }, (_, n) => n),
  labels: Uint8Array.of(0, 2),
};

let services: TestServices;
beforeAll(async () => {
  services = await TestServices.open();
});
afterAll(() => services.close());

const create = (more: Partial<CreateTaskOptions> = {}) =>
  createTask({
    server: services.server.url,
    authority: services.authority.url,
    operatorToken: OPERATOR_TOKEN,
    authorityToken: OPERATOR_TOKEN,
    model,
    clip: 1,
    ...more,
  });
const firstModel = async (task: string): Promise<Float32Array> => {
  const response = await fetch(new URL(SERVER_PATH.model(task, 0), services.server.url), { headers: READER });
  return new Float32Array(await response.arrayBuffer());
};

it('a model is all it needs: the policy has the defaults and the hash of the network, and the server draws and evaluates', async () => {
  const { task, policy } = await create({ evaluationSet: examples });
  expect(policy).toMatchObject({
    name: ascii('mine'),
    bufferSize: TASK_DEFAULTS.bufferSize,
    uploadLeaseMs: TASK_DEFAULTS.uploadLeaseMs,
    oneShot: {
      ...ONE_SHOT_DEFAULTS,
      authorityNoise: true,
      stepUpdates: TASK_DEFAULTS.bufferSize,
      minIntervalMs: 1_000,
    },
    privacy: { noiseMultiplier: 0.1, colluders: 1, budget: undefined },
    training: TASK_DEFAULTS.training,
    dimension: model.dimension,
    manifestHash: nodeSuite.sha256(ascii(manifestText(model))),
    serverKey: services.server.publicKey,
  });
  expect(await firstModel(task)).toEqual(initialParameters(model, 1));
  await expect.poll(async () => (await services.taskState(task)).accuracy).toBeGreaterThanOrEqual(0);
});

it('the same settings again are the same task', async () => {
  const settings = { name: 'again', bufferSize: 4 };
  expect((await create(settings)).task).toBe((await create(settings)).task);
  expect((await create({ ...settings, bufferSize: 5 })).task).not.toBe((await create(settings)).task);
});

it('given training settings are used together with the defaults', async () => {
  const { policy } = await create({ training: { epochs: 3 }, clip: 2, minimum: 5, bufferSize: 6 });
  expect(policy).toMatchObject({ training: { ...TASK_DEFAULTS.training, epochs: 3 }, clip: 2, minimum: 5 });
});

it('each token that an owner registered enrols a device', async () => {
  const { task } = await create({ name: 'with tokens' });
  const owner = new AuthorityOperator({ url: services.authority.url, token: OPERATOR_TOKEN });
  const tokens = await owner.tokens(task, 2, Date.now() + 60_000);
  const pins = { server: services.server.url, authority: services.authority.url, task };
  const authorityKey = toHex(services.authority.publicKey);
  for (const [n, token] of tokens.entries()) {
    const identity = `${services.folder}/enrolled-${n}`;
    const client = await BasaClient.connect({ ...pins, authorityKey, token, identity });
    expect((await client.model()).version).toBe(0);
    await client.close();
  }
});

it('a network that the server cannot build is given with its first parameters', async () => {
  expect(await firstModel((await create({ model: foreign, initial: { seed: 7 } })).task)).toEqual(
    initialParameters(foreign, 7),
  );
  const parameters = initialParameters(model, 1).map((value) => 2 * value);
  const { task } = await create({ model: foreign, name: 'given', initial: { parameters } });
  expect(await firstModel(task)).toEqual(parameters);
});

it('a network that the server cannot build is not evaluated, and settings that do not fit each other are refused: before anything is asked', async () => {
  const nowhere = { server: 'http://127.0.0.1:1', authority: 'http://127.0.0.1:1' };
  await expect(create({ ...nowhere, model: foreign, evaluationSet: examples })).rejects.toThrow(SettingsError);
  await expect(create({ bits: 2 })).rejects.toThrow(/these settings cannot be used.*wrap/);
  await expect(create({ minimum: 11 })).rejects.toThrow(SettingsError);
});

it('an operator’s token goes over plain http to no other machine', async () => {
  await expect(create({ server: 'http://192.0.2.1' })).rejects.toMatchObject({ reason: 'plain-http' });
  await expect(create({ authority: 'http://192.0.2.1' })).rejects.toMatchObject({ reason: 'plain-http' });
});

it('a refusal names the service and the request, and an unreachable service is reported as such', async () => {
  const refused = await create({ authorityToken: 'wrong', name: 'refused' }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ProblemError);
  expect(String(refused)).toContain(`${services.authority.url}/v1/tasks: `);
  const server = `http://127.0.0.1:${await freePort()}`;
  const gone = await create({ server }).catch((error: unknown) => error);
  expect(gone).toBeInstanceOf(UnreachableError);
  expect(String(gone)).toContain(`${server} does not answer (ECONNREFUSED); check that it is running at this address`);
});

it('asked with a signal, it stops when that is aborted', async () => {
  const stopped = create({ signal: AbortSignal.abort(new Error('enough')) });
  await expect(stopped).rejects.toThrow('enough');
});
