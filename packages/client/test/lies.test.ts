/** Services that lie: whatever is not signed by whom it should be, or departs from the pins, is refused. */
import { type Signer, toHex } from '@basa/masking';
import { millis, type TaskId } from '@basa/protocol';
import { endorse } from '@basa/protocol/internal/wire/council.ts';
import { TaskPolicy } from '@basa/protocol/policy';
import { Certificate, Epoch, ModelStatement, ShownModel } from '@basa/protocol/wire';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import { inMemoryStoreForTests } from '../src/node/index.ts';
import { connectTo, deltaOf, memoryStore } from './support/connect.ts';

import { DIMENSION, type Services } from './support/services.ts';
import { startClient, startServices } from './support/setup.ts';

const stranger = createNodeSigner(nodeRandomBytes(32));

/** Changes the body of every answer to requests whose path ends so. */
function forge(services: Services, path: string, change: (body: Uint8Array) => Uint8Array): void {
  services.mischief = {
    after: (asked, reply) =>
      asked.path.endsWith(path) && reply.status === 200 ? { ...reply, body: change(reply.body) } : undefined,
  };
}

describe('connecting', () => {
  it('to an authority with another key is refused', async () => {
    const services = await startServices();
    const elsewhere = connectTo(services, { authorityKey: toHex(stranger.publicKey) });
    await expect(elsewhere).rejects.toMatchObject({ reason: 'wrong-authority' });
    forge(services, '/v1/authority', () => Buffer.from(JSON.stringify({ publicKey: toHex(stranger.publicKey) })));
    await expect(connectTo(services)).rejects.toMatchObject({ reason: 'wrong-authority' });
  });

  it('with a policy that does not hash to the pinned task is refused', async () => {
    const services = await startServices();
    forge(services, '/policy', () => TaskPolicy.encode({ ...services.policy, minimum: 3 }));
    await expect(connectTo(services)).rejects.toMatchObject({ reason: 'wrong-policy' });
  });

  it('to another server than the one of the policy is refused', async () => {
    const [services, other] = [await startServices(), await startServices()];
    await expect(connectTo(services, { server: other.serverUrl })).rejects.toMatchObject({ reason: 'wrong-server' });
  });

  it('to an unknown task, or with a used token, gives a clear error', async () => {
    const services = await startServices();
    await expect(connectTo(services, { task: 'ab'.repeat(32) })).rejects.toMatchObject({ code: 'task-unknown' });
    await expect(connectTo(services, { token: 'ff'.repeat(32) })).rejects.toMatchObject({
      code: 'enrolment-token-invalid',
    });
    await expect(connectTo(services, { task: 'short' })).rejects.toThrow('64 lower-case hexadecimal digits');
    await expect(connectTo(services, { server: 'http://localhost/basa' })).rejects.toThrow('without a path');
  });

  it.each([
    ['for another device', { deviceKey: stranger.publicKey }, false],
    ['for another task', { task: new Uint8Array(32).fill(7) as TaskId }, false],
    ['that the authority did not sign', {}, true],
  ])('with a certificate %s is refused, and it is not kept', async (_, change, isForged) => {
    const services = await startServices();
    const device = createNodeSigner(nodeRandomBytes(32));
    const store = inMemoryStoreForTests(device);
    const { taskId: task, policy, authority } = services.world;
    const body = { task, deviceKey: device.publicKey, ...change };
    const signed = isForged
      ? endorse(Certificate, { authorities: [stranger.publicKey] }, stranger, body)
      : endorse(Certificate, policy, authority.signer, body);
    forge(services, '/enrolments', () => Certificate.encode(signed));
    await expect(connectTo(services, { identity: store })).rejects.toMatchObject({ reason: 'wrong-certificate' });
    expect(await store.entries()).toEqual([]);
  });

  it('with the store of a device of another task is refused', async () => {
    const [services, other] = [await startServices(), await startServices()];
    const store = memoryStore();
    await startClient(services, { identity: store });
    await expect(connectTo(other, { identity: store })).rejects.toMatchObject({ reason: 'store-of-another-task' });
  });
});

describe('a model', () => {
  it('of which the server signed other parameters is refused', async () => {
    const services = await startServices();
    const client = await startClient(services);
    forge(services, '/models/0', () => new Uint8Array(new Float32Array(DIMENSION).fill(1).buffer));
    await expect(client.model()).rejects.toMatchObject({ reason: 'model-invalid' });
    forge(services, '/models/0', (body) => body.subarray(0, 8));
    await expect(client.model()).rejects.toThrow('8 bytes instead of 160');
    forge(services, '/models/0', (body) => Buffer.concat([body, body]));
    await expect(client.model()).rejects.toThrow('more than 160 bytes');
  });
});

describe('a model and epochs that the server shows are refused, and nothing of an update is sent, if', () => {
  it.each<[string, string, (shown: ShownModel, server: Signer) => Partial<ShownModel>]>([
    [
      'a stranger signed the model',
      'model-invalid',
      ({ statement }) => ({ statement: modelOf(stranger, { ...statement, version: 99 }) }),
    ],
    [
      'the model is one of another task',
      'model-invalid',
      ({ statement }, server) => ({ statement: modelOf(server, { ...statement, task: new Uint8Array(32) as TaskId }) }),
    ],
    [
      'a stranger signed the epoch',
      'epochs-missing',
      ({ epochs }) => ({
        epochs: epochs.map((epoch) => ({ ...epoch, signature: stranger.sign(Epoch.statement(epoch)) })),
      }),
    ],
    [
      'the end of the epoch is another one',
      'epochs-missing',
      ({ epochs }) => ({ epochs: epochs.map((epoch) => ({ ...epoch, closes: millis(epoch.closes + 1) })) }),
    ],
  ])('%s', async (_, reason, lie) => {
    const services = await startServices();
    const client = await startClient(services);
    forge(services, '/models/newest', (body) => {
      const shown = ShownModel.decode(body);
      return ShownModel.encode({ ...shown, ...lie(shown, services.world.serverSigner) });
    });
    await expect(client.model()).rejects.toMatchObject({ reason });
    expect(await client.contribute(deltaOf(1), { trainedOn: 0 })).toMatchObject({ reason, update: 'free' });
    expect(services.count('/shots/')).toBe(0);
    // Nor is anything of it remembered.
    services.mischief = {};
    expect((await client.model()).version).toBe(0);
  });
});

function modelOf(signer: Signer, statement: ModelStatement): ModelStatement {
  return { ...statement, signature: signer.sign(ModelStatement.statement(statement)) };
}
