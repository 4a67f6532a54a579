/** A learning task of a few pixels: four classes, each with a bright corner. */

import {
  allSamples,
  createReferenceBackend,
  createTrainer,
  defineModel,
  dense,
  flatten,
  randomStream,
} from '@basa/learning';
import type { LearnTask } from '@basa/simulator/virtual-time';

const SHAPE = { height: 4, width: 4, channels: 1 };
const CORNERS = [0, 3, 12, 15];
const model = defineModel('tiny', SHAPE, [flatten, dense(4, { name: 'output' })]);

function dataset(user: number, count: number) {
  const stream = randomStream(1, 'tiny', user);
  const labels = Uint8Array.from({ length: count }, () => stream.below(4));
  const inputs = Uint8Array.from({ length: 16 * count }, (_, at) => {
    const isBright = CORNERS[labels[Math.floor(at / 16)] ?? 0] === at % 16;
    return (isBright ? 120 : 0) + stream.below(120);
  });
  return { name: 'corners', shape: SHAPE, classes: 4, inputs, labels };
}

export const tinyTask: LearnTask = {
  model,
  users: 30,
  batchSize: 5,
  learningRate: 0.1,
  target: 0.9,
  evaluateEvery: 1,
  countOf: () => 20,
  samplesOf: (user) => allSamples(dataset(user, 20)),
  quickTest: allSamples(dataset(1000, 100)),
  wholeTest: allSamples(dataset(1001, 200)),
  about: 'four corners',
};

export const tinyTrainer = createTrainer(createReferenceBackend(model));
