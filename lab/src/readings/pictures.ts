/** Digits of MNIST: shares of devices, pictures that the adversary has of its own, and the referee for pictures. */
import { noProgress } from '@basa/cli/internal/data/cache.ts';
import { loadMnist } from '@basa/cli/internal/data/mnist.ts';
import { type Dataset, randomStream, type Samples } from '@basa/learning';
import { cosine } from './reading.ts';

export const PIXELS = 784;
/** About 20 dB for a usual digit. */
export const SAME_PICTURE = 0.95;

export interface Pictures {
  /** One for each device. */
  readonly shares: readonly Samples[];
  /** Those of all devices. */
  readonly private: readonly Float32Array[];
}

const mnist = loadMnist({ progress: noProgress });

/** Pictures drawn anew from the 60,000 for each seed. */
export async function picturesFor(devices: number, each: number, seed: number): Promise<Pictures> {
  const { train } = await mnist;
  const order = Uint32Array.from(train.labels, (_, n) => n);
  randomStream(seed, 'pictures').shuffle(order);
  const shares = Array.from({ length: devices }, (_, device) => ({
    dataset: train,
    indices: order.slice(device * each, (device + 1) * each),
  }));
  const own = [...order.subarray(0, devices * each)].map((n) => pictureOf(train, n));
  return { shares, private: own };
}

/** Some pictures of the test set, which is public. */
export async function openPictures(count: number): Promise<Samples> {
  return { dataset: (await mnist).test, indices: Uint32Array.from({ length: count }, (_, n) => n) };
}

export function pictureOf({ inputs }: Dataset, n: number): Float32Array {
  return Float32Array.from(inputs.subarray(n * PIXELS, (n + 1) * PIXELS), (byte) => byte / 255);
}

/** The number of different pictures that are among the guesses. */
export function picturesRead(guesses: readonly Float32Array[], truth: readonly Float32Array[]): number {
  const found = new Set<Float32Array>();
  for (const guess of guesses) {
    let best: readonly [Float32Array | undefined, number] = [undefined, SAME_PICTURE];
    for (const picture of truth) {
      const likeness = Math.abs(cosine(guess, picture));
      if (likeness >= best[1]) best = [picture, likeness];
    }
    if (best[0] !== undefined) found.add(best[0]);
  }
  return found.size;
}
