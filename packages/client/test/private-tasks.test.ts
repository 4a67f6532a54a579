/** Private tasks and private metrics: a budget that holds across restarts and crashes, and means of numbers nobody sees singly. */
import { allSamples, createReferenceBackend, createTrainer } from '@basa/learning';
import { SERVER_PATH } from '@basa/protocol/http';
import { describe, expect, it } from 'vitest';
import type { DeviceStore, RoundTrainer } from '../src/node/index.ts';
import { connectTo, deltaOf, memoryStore } from './support/connect.ts';
import { type Crashes, crashingStore, ProcessDied } from './support/crashing-store.ts';
import type { Services } from './support/services.ts';
import { accepted, reasonOf, startClient, startServices } from './support/setup.ts';
import { tinyDataset, tinyModel } from './support/tiny.ts';

const data = allSamples(tinyDataset);

const PRIVATE = { level: 16, clip: 1, minimum: 3 } as const;
const privateTask = (participations: number) => ({
  policy: { ...PRIVATE, privacy: { noiseMultiplier: 1, colluders: 0, budget: { delta: 1e-6, participations } } },
});

/** Another update each time. */
class Counter implements RoundTrainer {
  readonly model = tinyModel;
  trainings = 0;
  train() {
    this.trainings++;
    const delta = new Float32Array(tinyModel.dimension).fill(this.trainings / 100);
    return { delta, loss: 1, samples: 16 };
  }
}

describe('a device of a private task', () => {
  it('contributes while its budget lasts, then stops with a clear word before it trains again, also after a restart', async () => {
    const services = await startServices(privateTask(2));
    services.keepTicking();
    const store = memoryStore();
    const client = await startClient(services, { identity: store });
    const others = [await startClient(services), await startClient(services)];
    const told: number[] = [];
    client.on('privacy', ({ inclusions }) => told.push(inclusions));
    const [trainer, ...more] = [new Counter(), new Counter(), new Counter()] as const;
    const lives = others.map((one, n) => one.run(more[n] as Counter, data));
    expect(await client.run(trainer, data)).toMatchObject({ accepted: 2, ended: 'budget-spent' });
    expect(await Promise.all(lives)).toMatchObject(Array(2).fill({ accepted: 2, ended: 'budget-spent' }));
    expect(trainer.trainings).toBe(2);
    expect(new Set(told)).toEqual(new Set([1, 2]));
    expect(client.privacy).toMatchObject({
      kind: 'private',
      noiseMultiplier: 1,
      by: 'devices',
      sentence: expect.stringContaining('epsilon 7.77 at delta'),
      spent: { inclusions: 2, participations: 2, delta: 1e-6 },
    });
    expect(client.privacy.spent?.epsilon).toBeCloseTo(7.8, 1);
    expect(reasonOf(await client.contribute(deltaOf(7), { trainedOn: 0 }))).toBe('budget-spent');
    await client.close();
    const again = await startClient(services, { identity: store });
    expect(again.privacy.spent?.inclusions).toBe(2);
    expect(await again.run(trainer, data)).toMatchObject({ accepted: 0, ended: 'budget-spent' });
    expect(trainer.trainings).toBe(2);
  });

  it('does not stay away because it learned nothing, or diverged', async () => {
    for (const value of [0, Number.NaN]) {
      const services = await startServices(privateTask(3));
      const clients = await Promise.all([0, 1, 2].map(() => startClient(services)));
      const delta = new Float32Array(tinyModel.dimension).fill(value);
      const trainer: RoundTrainer = { model: tinyModel, train: () => ({ delta, loss: 1, samples: 1 }) };
      const lives = clients.map((client) => client.run(trainer, data, { rounds: 1 }));
      expect(await Promise.all(lives)).toMatchObject(Array(3).fill({ accepted: 1, ended: 'rounds' }));
    }
  });

  it('keeps the charge of a sum that holds its update', async () => {
    const services = await startServices(privateTask(1));
    const clients = [await startClient(services), await startClient(services), await startClient(services)];
    for (const [n, client] of clients.entries()) accepted(await client.contribute(deltaOf(n), { trainedOn: 0 }));
    await services.reached(1);
    for (const client of clients) {
      expect(reasonOf(await client.contribute(deltaOf(7), { trainedOn: 0 }))).toBe('budget-spent');
      expect(client.privacy.spent?.inclusions).toBe(1);
    }
  });

  it('has nothing to spend in a task that is not private', async () => {
    const { privacy } = await startClient(await startServices());
    expect(privacy).toMatchObject({ kind: 'none', by: 'nobody', noiseMultiplier: 0, spent: undefined });
  });
});

describe.each(['before', 'after'] as const)('a process that dies right %s a durable step of a private task', (when) => {
  it('has charged no less than left it, at most one inclusion more, and stops at its budget', async () => {
    for (let at = 0; ; at++) {
      const services = await startServices(privateTask(1));
      const store = memoryStore();
      if (!(await hasDied(services, store, { at, when, steps: 0 }))) break;
      const back = await startClient(services, { identity: store });
      const left = uploadsOf(services);
      expect(back.privacy.spent?.inclusions ?? 0, `step ${at}`).toBeGreaterThanOrEqual(left);
      expect(back.privacy.spent?.inclusions ?? 0, `step ${at}`).toBeLessThanOrEqual(1);
      await back.resume();
      await back.contribute(deltaOf(3), { trainedOn: 0 });
      expect(uploadsOf(services), `step ${at}`).toBe(1);
      expect(reasonOf(await back.contribute(deltaOf(4), { trainedOn: 0 })), `step ${at}`).toBe('budget-spent');
      expect(back.privacy.spent?.inclusions, `step ${at}`).toBe(1);
    }
  });
});

async function hasDied(services: Services, store: DeviceStore, crashes: Crashes): Promise<boolean> {
  const died = (error: unknown): undefined => {
    if (!(error instanceof ProcessDied)) throw error;
  };
  const doomed = await connectTo(services, { identity: crashingStore(store, crashes) }).catch(died);
  return (await doomed?.contribute(deltaOf(3), { trainedOn: 0 }).catch(died)) === undefined;
}

function uploadsOf({ accepted }: Services): number {
  return accepted.size;
}

describe('private metrics', () => {
  const metrics = [
    { name: 'loss', low: 0, high: 4 },
    { name: 'accuracy', low: 0, high: 1 },
    { name: 'examples', low: 0, high: 100 },
    { name: 'battery', low: 0, high: 1 },
  ];

  it('reach the server as means over a batch: loss, accuracy before training, examples, and values of the application', async () => {
    const services = await startServices({ policy: { metrics } });
    const clients = [await startClient(services), await startClient(services), await startClient(services)];
    const losses: number[] = [];
    for (const [n, client] of clients.entries()) {
      client.on('trained', ({ loss }) => losses.push(loss));
      const trainer = createTrainer(createReferenceBackend(tinyModel));
      await client.run(trainer, data, { rounds: 1, metrics: () => ({ battery: n / 4 }) });
    }
    await services.reached(1);
    const { versions } = await services.told<{ versions: { metrics: Record<string, number> }[] }>(
      SERVER_PATH.taskMetrics(services.world.task),
    );
    const means = versions.at(-1)?.metrics ?? {};
    expect(means['loss']).toBeCloseTo(losses.reduce((sum, loss) => sum + loss, 0) / 3, 3);
    expect(means['examples']).toBeCloseTo(16, 2);
    expect(means['battery']).toBeCloseTo(0.25, 3);
    expect(means['accuracy']).toBeGreaterThanOrEqual(0);
  });

  it('that the application cannot measure end its run before a training, and a call without them before a request', async () => {
    const services = await startServices({ policy: { metrics } });
    const client = await startClient(services);
    const { evaluate: _, ...trainer } = createTrainer(createReferenceBackend(tinyModel));
    await expect(client.run(trainer, data)).rejects.toThrow('asks for the metrics accuracy, battery');
    const update = { trainedOn: 0, metrics: { loss: 1, accuracy: 1, examples: 1 } };
    await expect(client.contribute(new Float32Array(tinyModel.dimension), update)).rejects.toThrow(
      'a number for battery',
    );
    expect(services.count('/shots/')).toBe(0);
  });
});
