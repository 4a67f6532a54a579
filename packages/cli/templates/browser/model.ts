/** The network, its training and its data. `basa simulate`, create-task.ts and the worker all read this file. */
import type { Dataset, Samples, Share } from '@basa/learning';
import { allSamples, defineModel, dense, randomStream, relu } from '@basa/learning';

const CLASSES = 3;

/** Four numbers in, one of three classes out. Images are { height: 28, width: 28, channels: 1 }, with conv2d and maxPool. */
export const model = defineModel('my-network', { height: 1, width: 1, channels: 4 }, [dense(16), relu, dense(CLASSES)]);

/** Training settings. They become part of the policy of the task, so no server can change them. */
export const training = { epochs: 2, batchSize: 8, learningRate: 0.1 };

/** C: updates are clipped to this L2 norm, the median of the first updates of devices. `npm run simulate` measures it again. */
export const clip = 0.93;

/** The examples of one device. Replace these generated examples with data from the page, from a file that the user chose, or from a sensor. */
export const data = ({ device }: Share): Samples => allSamples(draw(1 + device, 90));

/** The examples on which every version of the model is evaluated. They go to the server, so use no private data. */
export const test = (): Dataset => draw(0, 300);

function draw(seed: number, count: number): Dataset {
  const random = randomStream(seed, 'measurements');
  const labels = Uint8Array.from({ length: count }, (_, n) => n % CLASSES);
  const inputs = Float32Array.from({ length: 4 * count }, (_, n) => {
    const isCorner = n % 4 === Math.floor(n / 4) % CLASSES;
    return (isCorner ? 1 : 0) + 0.4 * random.normal();
  });
  return { name: 'measurements', shape: model.input, classes: CLASSES, inputs, labels };
}
