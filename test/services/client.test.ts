/** The client SDK against both services as they are: no part in between is made for a test. */

import { createHash } from 'node:crypto';
import { UnreachableError } from '@basa/client/node';
import { inMemoryStoreForTests, BasaClient as WebClients } from '@basa/client/web';
import { allSamples, createReferenceBackend, createTrainer, defineModel, dense, manifestText } from '@basa/learning';
import { ascii, toHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { nodeSuite } from '@basa/runtime/node';
import { createWebSigner, webRandomBytes } from '@basa/runtime/web';
import { oneHot, TestServices, type TestServicesOptions, until } from '@basa/testkit/services/test-services.ts';
import { afterEach, describe, expect, it } from 'vitest';

const retry = { attempts: 3, firstWaitMs: 20, longestWaitMs: 2000, timeoutMs: 10_000 };
let services: TestServices | undefined;
afterEach(() => services?.close());

async function openHouse(options: TestServicesOptions = {}): Promise<TestServices> {
  services = await TestServices.open(options);
  return services;
}

describe('the client', () => {
  it('trains and contributes by itself: two rounds, two models', async () => {
    const model = defineModel('tiny', { height: 1, width: 1, channels: 4 }, [dense(8)]);
    const dataset = {
      name: 'tiny',
      shape: model.input,
      classes: 8,
      inputs: Float32Array.from({ length: 4 * 16 }, (_, n) => Math.cos(n)),
      labels: Uint8Array.from({ length: 16 }, (_, n) => n % 8),
    };
    const layers = model.layers.map(({ layer }) => layer);
    const opened = await openHouse({
      policy: {
        dimension: model.dimension,
        manifestHash: nodeSuite.sha256(ascii(manifestText(model))),
        training: { epochs: 1, batchSize: 4, learningRate: 0.05, loss: 'softmaxCrossEntropy' },
      },
      specification: { model: { name: model.name, input: model.input, layers } },
    });
    // More devices than a batch has, so some of them wait for another version.
    const names = ['a', 'b', 'c', 'd', 'e'];
    const clients = await Promise.all(names.map((name) => opened.client(name)));
    const runs = clients.map((client) =>
      client.run(createTrainer(createReferenceBackend(model)), allSamples(dataset), { rounds: 2 }),
    );
    expect(await Promise.all(runs)).toMatchObject(names.map(() => ({ ended: 'rounds' })));
    await opened.reached(2);
    const other = createTrainer(createReferenceBackend(defineModel('other', model.input, [dense(8, { name: 'x' })])));
    await expect(clients[0]?.run(other, allSamples(dataset))).rejects.toThrow('is not the network of the task');
  });

  it('for browsers shares a batch with the one for Node', async () => {
    const opened = await openHouse({ policy: { bufferSize: 2 } });
    const web = await WebClients.connect({
      server: opened.server.url,
      authority: opened.authority.url,
      authorityKey: toHex(opened.authority.publicKey),
      task: opened.task,
      token: await opened.token(),
      identity: inMemoryStoreForTests(createWebSigner(webRandomBytes(32))),
      floor: { minimum: 2, noNoise: true },
    });
    expect(await web.contribute(oneHot(1), { trainedOn: 0 })).toMatchObject({ kind: 'accepted' });
    await (await opened.client('node')).contribute(oneHot(2), { trainedOn: 0 });
    await opened.reached(1);
    await until(async () => (await web.model()).version === 1);
    await web.close();
  });

  it('distinguishes an empty address, a wrong token and a revoked device', async () => {
    const opened = await openHouse({ server: { revocationsMs: 30 } });
    await expect(opened.client('x', { server: 'http://127.0.0.1:9', retry })).rejects.toBeInstanceOf(UnreachableError);
    await expect(opened.client('y', { token: 'ff'.repeat(32) })).rejects.toMatchObject({
      code: 'enrolment-token-invalid',
    });
    const client = await opened.client('z');
    const user = createHash('sha256').update(client.deviceKey).digest('hex');
    await opened.operate(opened.authority.url, 'POST', AUTHORITY_PATH.revocations, { user });
    await until(async () => (await client.admission()).kind === 'rejected');
    expect(await client.admission()).toMatchObject({ reason: 'revoked', update: 'free' });
  });
});
