/** One bit about each device from what the server sees without a sum: its requests, and the time of its training. */
import { type Dataset, defineModel, dense, randomStream, relu, type Samples } from '@basa/learning';
import { Fleet, type Heard } from './fleet.ts';
import type { Play, Reading, ReadingAttack } from './reading.ts';

const SHAPE = { height: 1, width: 1, channels: 16 };

/** The examples of each device, one after the other. */
function sharesOf(dataset: Dataset, devices: number, each: number): readonly Samples[] {
  return Array.from({ length: devices }, (_, n) => ({
    dataset,
    indices: Uint32Array.from({ length: each }, (__, k) => n * each + k),
  }));
}

const EACH = 10;

/**
 * The model says no with certainty, so that a device without a positive example has an update of zeros. Nobody needs a sum for it.
 */
async function refusals({ level, seed, isSmall }: Play): Promise<Reading> {
  const devices = isSmall ? 6 : 24;
  const random = randomStream(seed, 'refusals');
  const secrets = Array.from({ length: devices }, () => random.below(2) === 1);
  const inputs = Float32Array.from({ length: devices * EACH * SHAPE.channels }, () => random.unit());
  const labels = Uint8Array.from({ length: devices * EACH }, (_, n) => (n % EACH === 0 && secrets[n / EACH] ? 1 : 0));
  const dataset = { name: 'findings', shape: SHAPE, classes: 2, inputs, labels };
  const model = defineModel('finding', SHAPE, [dense(1)]);
  const initial = new Float32Array(model.dimension);
  initial[model.dimension - 1] = -1000;
  return Fleet.run(async (fleet) => {
    const task = { level, model, initial, bufferSize: devices, examples: EACH, learningRate: 0.1, clip: 1 };
    await fleet.create({ ...task, loss: 'binaryCrossEntropy' });
    const heard = (await fleet.heard(sharesOf(dataset, devices, EACH))).map(told);
    // All alike say nothing. The shortest are those of devices that do not upload.
    if (new Set(heard).size === 1) return { read: 0, of: devices };
    const shortest = heard.reduce((a, b) => (a.length <= b.length ? a : b));
    return { read: secrets.filter((secret, n) => secret === (heard[n] !== shortest)).length, of: devices };
  });
}

/** Number, order and length of the requests. */
function told(requests: readonly Heard[]): string {
  return requests.map(({ line }) => line).join('\n');
}

export const REFUSALS_READ: ReadingAttack = {
  id: 'refusals',
  attack: 'the server chooses a model at which the update of a device is zero unless the device has a positive example',
  counts: 'devices of which it knows whether they have one, from their requests',
  sizes: 'K = 24',
  mayRead: ['none'],
  without: {
    rule: 'a device does not send an update of zeros',
    edits: [
      {
        file: 'protocol/src/one-shot/input.ts',
        find: '  if (noise !== undefined && !noise.isCentral) {\n',
        replace:
          "  if (words.every((word) => word === 0)) return refused('wrong-length');\n  if (noise !== undefined && !noise.isCentral) {\n",
      },
    ],
  },
  play: refusals,
};

const WIDE = 256;
const SUBNORMAL = 1e-39;
/** Two kinds of devices are told apart if the median time of one is longer by so much. */
const LONGER = 3;

/**
 * The first layer makes subnormal numbers of one feature, and the next layer multiplies them many times. Devices whose examples lack the
 * feature multiply zeros.
 */
async function timing({ level, seed, isSmall }: Play): Promise<Reading> {
  const [devices, each] = isSmall ? [6, 30] : [20, 100];
  const random = randomStream(seed, 'timing');
  const secrets = Array.from({ length: devices }, () => random.below(2) === 1);
  const inputs = Float32Array.from({ length: devices * each * SHAPE.channels }, (_, n) =>
    n % SHAPE.channels > 0 ? random.unit() : secrets[Math.floor(n / (each * SHAPE.channels))] ? 1 : 0,
  );
  const labels = Uint8Array.from({ length: devices * each }, () => random.below(2));
  const dataset = { name: 'findings', shape: SHAPE, classes: 2, inputs, labels };
  const model = defineModel('slow', SHAPE, [dense(WIDE), relu, dense(WIDE), relu, dense(2)]);
  const initial = new Float32Array(model.dimension);
  for (let n = 0; n < WIDE; n++) initial[n * SHAPE.channels] = SUBNORMAL;
  for (let n = WIDE * (SHAPE.channels + 1); n < initial.length; n++) initial[n] = random.unit();
  return Fleet.run(async (fleet) => {
    await fleet.create({ level, model, initial, bufferSize: devices, examples: each, learningRate: 0.1, clip: 1 });
    const heard = await fleet.heard(sharesOf(dataset, devices, each));
    const times = heard.map((requests) => Math.max(...requests.map(({ afterMs }) => afterMs)));
    const from = split(times);
    const isRight = (secret: boolean, n: number): boolean => secret === (times[n] as number) >= (from as number);
    return { read: from === undefined ? 0 : secrets.filter(isRight).length, of: devices };
  });
}

/** Where the times of slow devices begin; undefined if there are no two kinds, each of a fifth of the devices. */
function split(times: readonly number[]): number | undefined {
  const sorted = [...times].sort((a, b) => a - b);
  const least = Math.ceil(sorted.length / 5);
  let best = least;
  const jump = (n: number): number => (sorted[n] as number) / (sorted[n - 1] as number);
  for (let n = least; n <= sorted.length - least; n++) if (jump(n) > jump(best)) best = n;
  const middle = (some: readonly number[]): number => some[Math.floor(some.length / 2)] as number;
  return middle(sorted.slice(best)) >= LONGER * middle(sorted.slice(0, best)) ? sorted[best] : undefined;
}

export const TIMING: ReadingAttack = {
  id: 'timing',
  attack: 'the server chooses a model that makes subnormal numbers of one feature, which are slow',
  counts: 'devices of which it knows whether they have the feature, from the processor time of their training',
  sizes: 'K = 20',
  mayRead: ['none'],
  without: {
    rule: 'trainers do not make zeros of small values',
    edits: [
      {
        file: 'runtime/src/training-kernel.ts',
        find: '    ...functions,\n    name,',
        replace: '    ...functions,\n    flush: () => 0,\n    name,',
      },
    ],
  },
  play: timing,
};
