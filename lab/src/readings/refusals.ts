/**
 * One bit about each device from whether it uploads: the model says no with certainty, so that a device without a positive example has an
 * update of zeros. Nobody needs a sum for it.
 */
import { defineModel, dense, randomStream } from '@basa/learning';
import { Fleet, type Heard } from './fleet.ts';
import { noiseAt, type Play, type Reading, type ReadingAttack } from './reading.ts';

const EACH = 10;
const SHAPE = { height: 1, width: 1, channels: 16 };

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
  const fleet = await Fleet.open();
  try {
    const task = { model, initial, bufferSize: devices, examples: EACH, learningRate: 0.1, clip: 1 };
    await fleet.create({
      ...task,
      noise: noiseAt(level, { bufferSize: devices, dimension: model.dimension }),
      loss: 'binaryCrossEntropy',
    });
    const shares = secrets.map((_, n) => ({
      dataset,
      indices: Uint32Array.from({ length: EACH }, (__, k) => n * EACH + k),
    }));
    const heard = (await fleet.heard(shares)).map(told);
    // All alike say nothing. The shortest are those of devices that do not upload.
    if (new Set(heard).size === 1) return { read: 0, of: devices };
    const shortest = heard.reduce((a, b) => (a.length <= b.length ? a : b));
    return { read: secrets.filter((secret, n) => secret === (heard[n] !== shortest)).length, of: devices };
  } finally {
    await fleet.close();
  }
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
