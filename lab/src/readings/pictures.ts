/**
 * Digits of MNIST: shares of devices, pictures that the adversary has of its own, the filter that it makes of them, and the referee for
 * pictures.
 */
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

/** The row may be one picture as long as the clip, or share it with others. */
const SHARES = [1, 0.7, 0.5];
const STEPS = 10;
const ENOUGH = 1e-9;

/**
 * What the adversary knows of pictures takes noise out of a row: the linear filter with the least error for pictures like the public ones.
 * Returns the guesses for a row whose coordinates have noise of this deviation, in clips.
 */
export function pictureFilter({ dataset, indices }: Samples): (row: Float32Array, noise: number) => Float32Array[] {
  const mean = new Float32Array(PIXELS);
  const pictures = Array.from(indices, (n) => {
    const picture = pictureOf(dataset, n);
    const length = Math.hypot(...picture);
    return picture.map((value) => value / length);
  });
  for (const picture of pictures)
    for (const [k, value] of picture.entries()) mean[k] = (mean[k] as number) + value / pictures.length;
  const spread = new Float32Array(PIXELS ** 2);
  for (const picture of pictures) {
    const off = picture.map((value, k) => value - (mean[k] as number));
    for (let a = 0; a < PIXELS; a++) addTo(spread.subarray(a * PIXELS), off, (off[a] as number) / pictures.length);
  }
  const spreadOf = (x: Float32Array): Float32Array =>
    x.map((_, a) => dot(spread.subarray(a * PIXELS, (a + 1) * PIXELS), x));
  return (row, noise) =>
    SHARES.map((share) => {
      const sign = Math.sign(dot(row, mean)) || 1;
      const wanted = row.map((value, k) => (sign * value) / share - (mean[k] as number));
      const solved = solve(
        (x) => spreadOf(x).map((value, k) => value + (noise / share) ** 2 * (x[k] as number)),
        wanted,
      );
      return spreadOf(solved).map((value, k) => value + (mean[k] as number));
    });
}

/** Conjugate gradients. */
function solve(apply: (x: Float32Array) => Float32Array, wanted: Float32Array): Float32Array {
  const x = new Float32Array(wanted.length);
  let rest = wanted;
  let direction = wanted;
  for (let step = 0; step < STEPS; step++) {
    const before = dot(rest, rest);
    if (before < ENOUGH) break;
    const applied = apply(direction);
    const along = before / dot(direction, applied);
    addTo(x, direction, along);
    rest = rest.map((value, k) => value - along * (applied[k] as number));
    const turn = dot(rest, rest) / before;
    direction = rest.map((value, k) => value + turn * (direction[k] as number));
  }
  return x;
}

function addTo(sum: Float32Array, some: Float32Array, times: number): void {
  for (let n = 0; n < some.length; n++) sum[n] = (sum[n] as number) + times * (some[n] as number);
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let n = 0; n < a.length; n++) sum += (a[n] as number) * (b[n] as number);
  return sum;
}
