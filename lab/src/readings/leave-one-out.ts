/**
 * Two tasks with the same model, with sums that differ in one device: in the second one, a device of the adversary that gives zeros has the
 * place of the victim. The difference of the sums is the victim's update, and that of the metrics are the victim's numbers.
 */
import type { BasaClient } from '@basa/client/node';
import { defineModel, dense, flatten, initialParameters, type Samples } from '@basa/learning';
import { SERVER_PATH } from '@basa/protocol/http';
import { operate } from '@basa/testkit/world/operator.ts';
import { Fleet } from './fleet.ts';
import { picturesFor, SAME_PICTURE } from './pictures.ts';
import { cosine, type Play, type Reading, type ReadingAttack } from './reading.ts';

const DEVICES = 10;
/** Of its range: a metric is right within this. */
const NEAR = 0.01;
const RANGES = { loss: { low: 0, high: 5 }, accuracy: { low: 0, high: 1 }, examples: { low: 0, high: 100 } };
type Metric = keyof typeof RANGES;

async function leaveOneOut({ level, seed, isSmall }: Play): Promise<Reading> {
  const each = isSmall ? 10 : 60;
  const { shares } = await picturesFor(DEVICES, each, seed);
  const model = defineModel('digits', { height: 28, width: 28, channels: 1 }, [flatten, dense(10)]);
  const initial = initialParameters(model, seed);
  // A task with noise offers no number of examples.
  const names: readonly Metric[] = level === 'none' ? ['loss', 'accuracy', 'examples'] : ['loss', 'accuracy'];
  return Fleet.run(async (fleet) => {
    const task = {
      ...{ level, model, initial, bufferSize: DEVICES, examples: each, learningRate: 0.1, clip: 1 },
      metrics: names.map((name) => ({ name, ...RANGES[name] })),
    };
    const { trainer } = await fleet.create(task);
    const [victim, ...others] = shares as readonly [Samples, ...Samples[]];
    const whole = { sum: await fleet.sumOf([victim, ...others]), metrics: await metricsOf(fleet, names) };
    await fleet.create(task);
    const [own, ...devices] = (await fleet.devices(DEVICES)) as readonly [BasaClient, ...BasaClient[]];
    for (const [n, device] of devices.entries()) await fleet.give(device, others[n] as Samples);
    await fleet.giveZeros(own, names);
    const less = { sum: await fleet.sum(), metrics: await metricsOf(fleet, names) };
    const start = initial;
    const truth = trainer.train({ start, samples: victim, batchSize: each, learningRate: 0.1, seed: 1 });
    const { accuracy = 0 } = trainer.evaluate(start, victim);
    const told: Readonly<Record<Metric, number>> = { loss: truth.loss, accuracy, examples: truth.samples };
    const update = whole.sum.map((value, n) => value - (less.sum[n] as number));
    const isNear = (name: Metric, n: number): boolean => {
      const { low, high } = RANGES[name];
      // The zeros of the adversary count as the low end.
      const value = low + (whole.metrics[n] as number) - (less.metrics[n] as number);
      return Math.abs(value - told[name]) <= NEAR * (high - low);
    };
    const isUpdate = cosine(update, truth.delta) >= SAME_PICTURE;
    return { read: (isUpdate ? 1 : 0) + (names.every(isNear) ? 1 : 0), of: 2 };
  });
}

/** The sums of the metrics of the first version. */
async function metricsOf({ world }: Fleet, names: readonly Metric[]): Promise<readonly number[]> {
  const answer = await operate(world.wire.fetch, 'GET', new URL(SERVER_PATH.taskMetrics(world.task), world.serverUrl));
  const { versions } = JSON.parse(new TextDecoder().decode(answer)) as {
    versions: { version: number; metrics?: Record<Metric, number> }[];
  };
  const means = versions.find(({ version }) => version === 1)?.metrics;
  return names.map((name) => DEVICES * (means?.[name] ?? Number.NaN));
}

export const LEAVE_ONE_OUT: ReadingAttack = {
  id: 'leave-one-out',
  attack:
    'the operator makes two tasks with the same model, and a device of its own has the place of the victim in one',
  counts: 'the update of the victim (cosine of at least 0.95), and all its metrics (each within 1 % of its range)',
  sizes: 'K = 10',
  mayRead: ['none'],
  play: leaveOneOut,
};
