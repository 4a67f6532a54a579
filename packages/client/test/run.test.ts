/** A device that lives by itself: it trains as its pinned policy and its application say, and by nobody else's word. */
import {
  allSamples,
  createReferenceBackend,
  createTrainer,
  defineModel,
  dense,
  flatten,
  type Model,
  manifestText,
  relu,
  sigmoid,
  type TrainRequest,
} from '@basa/learning';
import { ascii } from '@basa/masking';
import type { TaskPolicy } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import type { Rejection, RoundTrainer } from '../src/node/index.ts';
import { problem } from './support/http-replies.ts';
import { startClient, startServices } from './support/setup.ts';
import { tinyDataset, tinyModel } from './support/tiny.ts';

const manifestHashOf = (of: Model): Uint8Array => nodeSuite.sha256(ascii(manifestText(of)));

/** Trains nothing, and keeps what it was asked for. */
class Recorder implements RoundTrainer {
  readonly asked: Omit<TrainRequest, 'start' | 'samples' | 'seed'>[] = [];
  readonly model: Model;
  readonly delta: Float32Array;
  constructor(of: Model, delta = new Float32Array(of.dimension).fill(0.5)) {
    this.model = of;
    this.delta = delta;
  }
  train({ start: _, samples: __, seed: ___, ...asked }: TrainRequest) {
    this.asked.push(asked);
    return { delta: this.delta, loss: 1, samples: 1 };
  }
}

describe('run', () => {
  it('three devices train and contribute until their rounds are done; the model moves on', async () => {
    const services = await startServices();
    services.shots.opensWhenFull = true;
    const clients = await Promise.all(
      [0, 1, 2].map((n) => startClient(services, { token: [...services.tokens][n] ?? '' })),
    );
    const versions: number[] = [];
    clients[0]?.on('trained', ({ version }) => versions.push(version));
    const summaries = await Promise.all(
      clients.map((client) =>
        client.run(createTrainer(createReferenceBackend(tinyModel)), allSamples(tinyDataset), { rounds: 2 }),
      ),
    );
    expect(summaries).toMatchObject(Array(3).fill({ accepted: 2, idle: 0, ended: 'rounds' }));
    expect(services.world.version).toBe(2);
    expect(versions).toHaveLength(2);
  });

  it('ends with the reason if the task has ended, and continues if it was only paused', async () => {
    const services = await startServices();
    const client = await startClient(services);
    let asked = 0;
    services.mischief = {
      before: ({ path }) => {
        if (!path.endsWith('/admissions')) return undefined;
        return problem(asked++ === 0 ? 'task-paused' : 'task-finished', { retryAfterMs: 1 });
      },
    };
    const trainer = createTrainer(createReferenceBackend(tinyModel));
    expect(await client.run(trainer, allSamples(tinyDataset))).toEqual({
      accepted: 0,
      rejected: 2,
      idle: 0,
      ended: 'task-finished',
    });
  });
});

it('a trainer that returns no number ends the run with an error, before anything is sent', async () => {
  const services = await startServices();
  const client = await startClient(services);
  const delta = new Float32Array(tinyModel.dimension).fill(0.5).fill(Number.POSITIVE_INFINITY, 2, 3);
  const running = client.run(new Recorder(tinyModel, delta), allSamples(tinyDataset), { rounds: 1 });
  await expect(running).rejects.toThrow('(the trainer returned Infinity for parameter 2). Check the data');
  expect(services.count('/shots/')).toBe(0);
});

describe('the training of a device', () => {
  const training = { epochs: 3, batchSize: 7, learningRate: 0.25, loss: 'softmaxCrossEntropy' } as const;

  it('is part of the policy, and the server cannot change it', async () => {
    const services = await startServices({ policy: { training } });
    const client = await startClient(services);
    const trainer = new Recorder(tinyModel);
    await client.run(trainer, allSamples(tinyDataset), { rounds: 1 });
    expect(trainer.asked).toEqual([{ epochs: 3, batchSize: 7, learningRate: 0.25 }]);
    expect(services.asked.filter(({ path }) => /\/tasks\/[0-9a-f]+$/.test(path))).toEqual([]);
  });

  it('is the application’s to change, also to steps instead of epochs', async () => {
    const services = await startServices({ policy: { training } });
    const client = await startClient(services);
    const trainer = new Recorder(tinyModel);
    const own = { learningRate: 1, steps: 2, momentum: 0.5 };
    await client.run(trainer, allSamples(tinyDataset), { rounds: 1, training: own });
    expect(trainer.asked).toEqual([{ batchSize: 7, learningRate: 1, steps: 2, momentum: 0.5 }]);
  });

  it('is part of the task’s name: a policy with another rate is another task', async () => {
    const services = await startServices({ policy: { training } });
    const { world } = services;
    const other: TaskPolicy = { ...world.policy, training: { ...training, learningRate: 1e-9 } };
    (world as { policy: TaskPolicy }).policy = other;
    await expect(startClient(services)).rejects.toMatchObject({ reason: 'wrong-policy' });
  });

  it('a trainer that minimises something else than the policy says is not used', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const trainer = Object.assign(new Recorder(tinyModel), { loss: 'own' as const });
    await expect(client.run(trainer, allSamples(tinyDataset))).rejects.toThrow('uses the loss softmaxCrossEntropy');
    const open = await startServices({ policy: { training: { ...training, loss: 'own' } } });
    const summary = await (await startClient(open)).run(trainer, allSamples(tinyDataset), { rounds: 1 });
    expect(summary.accepted).toBe(1);
  });

  it.each([
    ['another activation', [dense(4, { name: 'a' }), sigmoid, dense(4, { name: 'b' })]],
    ['none', [dense(4, { name: 'a' }), dense(4, { name: 'b' })]],
    ['one more layer', [dense(4, { name: 'a' }), relu, flatten, dense(4, { name: 'b' })]],
  ])('a network of the same tensors with %s is not trained', async (_, layers) => {
    const pinned = defineModel('pinned', tinyModel.input, [dense(4, { name: 'a' }), relu, dense(4, { name: 'b' })]);
    const services = await startServices({ policy: { manifestHash: manifestHashOf(pinned) } });
    const client = await startClient(services);
    const other = defineModel('pinned', tinyModel.input, layers);
    expect(other.manifest).toEqual(pinned.manifest);
    await expect(client.run(new Recorder(other), allSamples(tinyDataset))).rejects.toThrow(
      'is not the network of the task',
    );
    expect((await client.run(new Recorder(pinned), allSamples(tinyDataset), { rounds: 1 })).accepted).toBe(1);
  });
});

describe('an update that vanishes on a tensor of the model', () => {
  const wide = defineModel('wide', { height: 1, width: 1, channels: 16 }, [
    dense(8, { name: 'a' }),
    relu,
    dense(8, { name: 'b' }),
  ]);

  it('is not given, because run names the tensors: nothing is sent, and the place goes back', async () => {
    const services = await startServices({ policy: { dimension: wide.dimension } });
    const client = await startClient(services);
    // Small enough to quantise to zero nearly always, although the float is not zero.
    const delta = new Float32Array(wide.dimension).fill(0.5, 0, 136).fill(1e-12, 136);
    const data = { ...tinyDataset, shape: wide.input, inputs: new Float32Array(16 * 16) };
    const rejections: Rejection[] = [];
    client.on('rejected', (rejection) => rejections.push(rejection));
    const summary = await client.run(new Recorder(wide, delta), allSamples(data), { rounds: 1 });
    expect(summary).toEqual({ accepted: 0, rejected: 0, idle: 1, ended: 'rounds' });
    expect(rejections).toMatchObject([{ reason: 'zero-block', update: 'free' }]);
    expect(services.count('/shots/')).toBe(0);
    expect(services.count('/admissions')).toBe(2); // asked for, and given back
  });
});

describe('a model that has converged', () => {
  const zero = new Float32Array(tinyModel.dimension);

  it('says that it has nothing new, waits for a newer version, and ends a run with rounds', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const told: { version: number; why: string }[] = [];
    client.on('idle', (event) => told.push(event));
    const trainer = new Recorder(tinyModel, zero);
    const summary = await client.run(trainer, allSamples(tinyDataset), { rounds: 3, patienceMs: 10 });
    expect(summary).toEqual({ accepted: 0, rejected: 0, idle: 1, ended: 'nothing-new' });
    expect(told).toEqual([{ version: 0, why: expect.stringContaining('too small') }]);
    expect(trainer.asked).toHaveLength(1);
  });

  it('trains again as soon as there is a newer version', async () => {
    const services = await startServices({ bufferSize: 2 });
    services.shots.opensWhenFull = true;
    const [still, ...others] = await Promise.all(
      [0, 1, 2].map((n) => startClient(services, { token: [...services.tokens][n] ?? '' })),
    );
    const trainer = new Recorder(tinyModel, zero);
    const life = still?.run(trainer, allSamples(tinyDataset), { rounds: 2 });
    await Promise.all(
      others.map((client, n) =>
        client.run(
          new Recorder(
            tinyModel,
            zero.map(() => 0.25 * (n + 1)),
          ),
          allSamples(tinyDataset),
          { rounds: 1 },
        ),
      ),
    );
    expect(await life).toMatchObject({ idle: 2, ended: 'rounds' });
  });
});
