/** The one-shot mode with real devices, a real server and a real authority. */
import { allSamples, createReferenceBackend, createTrainer, defineModel, dense, manifestText } from '@basa/learning';
import { ascii } from '@basa/masking';
import { ENGINE, ONE_SHOT_DEFAULTS } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { TestServices } from '@basa/testkit/services/test-services.ts';
import { afterEach, expect, it } from 'vitest';

let services: TestServices | undefined;
afterEach(() => services?.close());

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
