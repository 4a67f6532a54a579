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
import { REFUSALS } from '@basa/protocol';
import type { ProblemCode } from '@basa/protocol/http';
import { SERVICE_PROBLEMS } from '@basa/protocol/internal/http/problems.ts';
import { ONE_SHOT_DEFAULTS, TaskPolicy } from '@basa/protocol/policy';
import { nodeSuite } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import { gatheringText, nodeOutside, type RoundTrainer } from '../src/node/index.ts';
import { type RunSteps, run } from '../src/run.ts';
import type { DeviceContext } from '../src/session/context.ts';
import { Emitter } from '../src/session/results.ts';
import { bytes, problem } from './support/services.ts';
import { startClient, startServices } from './support/setup.ts';
import { tinyDataset, tinyModel } from './support/tiny.ts';

const MOST_REFUSALS = 12;
const TRAINING_MS = 60_000;
const training = { epochs: 3, batchSize: 7, learningRate: 0.25, loss: 'softmaxCrossEntropy' } as const;

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
    services.keepTicking();
    const clients = await Promise.all([0, 1, 2].map(() => startClient(services)));
    const versions: number[] = [];
    clients[0]?.on('trained', ({ version }) => versions.push(version));
    const summaries = await Promise.all(
      clients.map((client) =>
        client.run(createTrainer(createReferenceBackend(tinyModel)), allSamples(tinyDataset), { rounds: 2 }),
      ),
    );
    expect(summaries).toMatchObject(Array(3).fill({ accepted: 2, ended: 'rounds' }));
    await services.until(async () => (await services.shown()).statement.version === 2);
    expect(versions).toHaveLength(2);
  });

  it('waits for the pause that its task asks for before it asks for the next place', async () => {
    const oneShot = { ...ONE_SHOT_DEFAULTS, minIntervalMs: 1_000 };
    const services = await startServices({ policy: { bufferSize: 2, oneShot } });
    services.keepTicking();
    const clients = await Promise.all([0, 1].map(() => startClient(services)));
    const begunAt: number[] = [];
    clients[0]?.on('progress', ({ step }) => step === 'mask' && begunAt.push(Date.now()));
    await Promise.all(
      clients.map((client) => client.run(new Recorder(tinyModel), allSamples(tinyDataset), { rounds: 2 })),
    );
    const [first = 0, second = 0] = begunAt;
    expect(second - first).toBeGreaterThanOrEqual(1_000);
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
      ended: 'task-finished',
    });
  });
});

it.each([
  ['an open task', {}],
  ['a private task', { privacy: { noiseMultiplier: 1, colluders: 0, budget: { delta: 1e-6, participations: 9 } } }],
])(
  'in %s, a device that waits for too few others says once how many are missing, and again when one comes',
  async (_, more) => {
    const services = await startServices({ policy: { minimum: 3, level: 16, clip: 1, ...more } });
    services.keepTicking();
    const ending = new AbortController();
    const said: string[] = [];
    const run = async (): Promise<void> => {
      const client = await startClient(services);
      client.on('waiting', (gathering) => said.push(gatheringText(gathering)));
      await client.run(new Recorder(tinyModel), allSamples(tinyDataset), { signal: ending.signal });
    };
    const lives = [run()];
    const first = '1 of at least 3 updates for version 1; 2 more devices needed';
    const second = '2 of at least 3 updates for version 1; 1 more device needed';
    await services.until(async () => said.length > 0);
    expect(said).toEqual([first]);
    lives.push(run());
    await services.until(async () => said.filter((text) => text === second).length === 2);
    lives.push(run());
    await services.reached(1);
    expect(said.filter((text) => text === first)).toHaveLength(1);
    ending.abort(new Error('enough'));
    for (const life of lives) await expect(life).rejects.toThrow('enough');
  },
);

it.each(['free', 'given'] as const)(
  'after any two refusals without a newer version, of updates that are %s, a device has waited longer than it trained',
  async (update) => {
    for (const reason of [...Object.keys(REFUSALS), ...Object.keys(SERVICE_PROBLEMS)] as ProblemCode[]) {
      const [ending, trainedAt] = [new AbortController(), [] as number[]];
      let [at, trials] = [0, 0];
      const outside = {
        ...nodeOutside(),
        stopwatch: () => at,
        sleep: async (ms: number) => {
          at += ms;
        },
      };
      const train = () => {
        trainedAt.push(at);
        at += TRAINING_MS;
        return { delta: new Float32Array(tinyModel.dimension), loss: 1, samples: 1 };
      };
      const refuse = async () => {
        if (++trials === MOST_REFUSALS) ending.abort();
        return { kind: 'rejected' as const, reason, update };
      };
      const steps: RunSteps = {
        mayTrain: () => undefined,
        admission: async () => ({ kind: 'place', endsInMs: 1e9 }),
        model: async () => ({
          version: 7,
          hash: '',
          parameters: new Float32Array(tinyModel.dimension),
        }),
        given: () => undefined,
        contribute: refuse,
        resume: async () => undefined,
      };
      const policy = { dimension: tinyModel.dimension, manifestHash: new Uint8Array(32), training, metrics: [] };
      const context = { outside, policy, events: new Emitter(), state: {} } as unknown as DeviceContext;
      const { signal } = ending;
      await run(context, steps, { model: tinyModel, train }, allSamples(tinyDataset), {}, signal).catch(
        () => undefined,
      );
      for (const [n, next] of trainedAt.slice(1).entries())
        expect([reason, next - (trainedAt[n] as number) >= 2 * TRAINING_MS]).toEqual([reason, true]);
    }
  },
);

describe('updates whose numbers a hostile model chose', () => {
  const delta = (value: number) => new Float32Array(tinyModel.dimension).fill(value);

  it('are sent again on the next version, even if they repeat', async () => {
    const services = await startServices({ policy: { bufferSize: 2 } });
    services.keepTicking();
    const clients = await Promise.all([0, 1].map(() => startClient(services)));
    const trainer = new Recorder(tinyModel, delta(0));
    const lives = clients.map((client) => client.run(trainer, allSamples(tinyDataset), { rounds: 2 }));
    expect(await Promise.all(lives)).toMatchObject([{ accepted: 2 }, { accepted: 2 }]);
  });
});

it('a run ends when its trainer is done, before it asks for a place', async () => {
  const services = await startServices();
  const client = await startClient(services);
  const places = services.count('/admissions');
  const trainer = Object.assign(new Recorder(tinyModel), { isDone: () => true });
  expect(await client.run(trainer, allSamples(tinyDataset))).toEqual({ accepted: 0, rejected: 0, ended: 'done' });
  expect(services.count('/admissions')).toBe(places);
});

describe('the training of a device', () => {
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
    const other = TaskPolicy.encode({ ...services.policy, training: { ...training, learningRate: 1e-9 } });
    services.mischief = { before: ({ path }) => (path.endsWith('/policy') ? bytes(other) : undefined) };
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
