/** The one-shot mode with real devices, a real server and a real authority. */
import { allSamples, createReferenceBackend, createTrainer, defineModel, dense, manifestText } from '@basa/learning';
import { ascii } from '@basa/masking';
import { ENGINE, ONE_SHOT_DEFAULTS } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { oneHot, TestServices } from '@basa/testkit/services/test-services.ts';
import { afterEach, expect, it } from 'vitest';

let services: TestServices | undefined;
afterEach(() => services?.close());

it('updates of one message each fill a batch, and the model moves by exactly their mean', async () => {
  const opened = await TestServices.open({
    policy: { engine: ENGINE.oneShot, oneShot: ONE_SHOT_DEFAULTS },
  });
  services = opened;
  const devices = await Promise.all(['a', 'b', 'c'].map((name) => opened.client(name)));
  const results = await Promise.all(devices.map((device, n) => device.contribute(oneHot(n), { trainedOn: 0 })));
  expect(results.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted']);
  const model = await opened.reached(1);
  expect(Array.from(model, (value) => Math.round(value * 3))).toEqual([-1, -1, -1, 0, 0, 0, 0, 0]);
  for (const [n, device] of devices.entries()) {
    const contribution = results[n];
    if (contribution?.kind !== 'accepted') throw new Error('not accepted');
    expect(await device.outcome(contribution)).toBe('included');
  }
});

it('devices that train again and again go on from version to version, also if more of them come than a batch has', async () => {
  const model = defineModel('tiny', { height: 1, width: 1, channels: 4 }, [dense(8)]);
  const dataset = {
    name: 'tiny',
    shape: model.input,
    classes: 8,
    inputs: Float32Array.from({ length: 4 * 16 }, (_, n) => Math.cos(n)),
    labels: Uint8Array.from({ length: 16 }, (_, n) => n % 8),
  };
  const opened = await TestServices.open({
    policy: {
      engine: ENGINE.oneShot,
      oneShot: ONE_SHOT_DEFAULTS,
      dimension: model.dimension,
      manifestHash: nodeSuite.sha256(ascii(manifestText(model))),
      training: { epochs: 1, batchSize: 4, learningRate: 0.05, loss: 'softmaxCrossEntropy' },
    },
    specification: {
      model: { name: model.name, input: model.input, layers: model.layers.map(({ layer }) => layer) },
    },
  });
  services = opened;
  const clients = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => opened.client(name)));
  const runs = clients.map((client) =>
    client.run(createTrainer(createReferenceBackend(model)), allSamples(dataset), { rounds: 2 }),
  );
  expect((await Promise.all(runs)).map(({ ended }) => ended)).toEqual(Array(5).fill('rounds'));
  await opened.reached(2);
}, 120_000);
