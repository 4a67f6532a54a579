/**
 * One bit about each device from how long it trains: the first layer makes subnormal numbers of one feature, and the next layer multiplies
 * them many times. Devices whose examples lack the feature multiply zeros.
 */
import { defineModel, dense, randomStream, relu } from '@basa/learning';
import { Fleet } from './fleet.ts';
import { noiseAt, type Play, type Reading, type ReadingAttack } from './reading.ts';

const SHAPE = { height: 1, width: 1, channels: 16 };
const WIDE = 256;
const SUBNORMAL = 1e-39;
/** Two kinds of devices are told apart if the median time of one is longer by so much. */
const LONGER = 3;

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
  const fleet = await Fleet.open();
  try {
    const task = { model, initial, bufferSize: devices, examples: each, learningRate: 0.1, clip: 1 };
    await fleet.create({ ...task, noise: noiseAt(level, { bufferSize: devices, dimension: model.dimension }) });
    const shares = secrets.map((_, n) => ({
      dataset,
      indices: Uint32Array.from({ length: each }, (__, k) => n * each + k),
    }));
    const times = (await fleet.heard(shares)).map((heard) => Math.max(...heard.map(({ afterMs }) => afterMs)));
    const from = split(times);
    const isRight = (secret: boolean, n: number): boolean => secret === (times[n] as number) >= (from as number);
    return { read: from === undefined ? 0 : secrets.filter(isRight).length, of: devices };
  } finally {
    await fleet.close();
  }
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
