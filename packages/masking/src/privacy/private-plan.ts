/** The quantiser and the group of a task with noise. */
import { elementBits, type Modulus, RING_32, ring, signedCapacity } from '../modulus.ts';
import { MIN_DEVIATION, type Noise, type NoiseRequest, noiseOf, noiseProblem, noisySumBound } from './noise.ts';

export interface PrivatePlanRequest extends Omit<NoiseRequest, 'level'> {
  /** K. */
  readonly bufferSize: number;
}

export interface PrivatePlan {
  readonly level: number;
  readonly modulus: Modulus;
  /** The fewest bits that hold a sum; the group has at least as many. */
  readonly neededBits: number;
  readonly noise: Noise;
}

export type PrivatePlanned =
  | { readonly kind: 'planned'; readonly plan: PrivatePlan }
  | { readonly kind: 'refused'; readonly sentence: string };

/** These pack and mask fast. */
const RINGS: readonly Modulus[] = [ring(16), ring(20), ring(24), RING_32];

/** The coarsest level that the noise allows: a finer one costs bits and hides in the noise. */
export function planPrivate(request: PrivatePlanRequest): PrivatePlanned {
  const invalid = invalidField(request);
  if (invalid !== undefined) return { kind: 'refused', sentence: invalid };
  const { bufferSize } = request;
  const level = coarsestLevel(request);
  const chosen = { ...request, level };
  const problem = noiseProblem(chosen);
  if (problem !== undefined) return { kind: 'refused', sentence: problem };
  const noise = noiseOf(chosen);
  const needed = noisySumBound(chosen, noise, bufferSize);
  const modulus = RINGS.find((one) => signedCapacity(one) >= needed);
  if (modulus === undefined)
    return {
      kind: 'refused',
      sentence: `a sum of ${bufferSize} updates with their noise reaches ${needed}, more than 32 bits hold: use a smaller buffer or less noise`,
    };
  const plan: PrivatePlan = {
    level,
    modulus,
    neededBits: Math.min(elementBits(modulus), Math.ceil(Math.log2(2 * needed + 1))),
    noise,
  };
  return { kind: 'planned', plan };
}

/** The least with s >= 4, and c C >= 2 sqrt(d) if anything is rounded. */
function coarsestLevel(request: PrivatePlanRequest): number {
  const { dimension, clip, minimum, colluders, noiseMultiplier, isCentral = false, isWhole = false } = request;
  const honest = isCentral ? 1 : Math.max(1, minimum - colluders);
  let low = isWhole ? 1 : Math.max(1, Math.ceil((2 * Math.sqrt(dimension)) / clip));
  // D >= c C, so this level is enough.
  let high = Math.max(low, Math.ceil((MIN_DEVIATION * Math.sqrt(honest)) / noiseMultiplier / clip) + 1);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (noiseOf({ ...request, level: middle }).deviation >= MIN_DEVIATION) high = middle;
    else low = middle + 1;
  }
  return low;
}

function invalidField(request: PrivatePlanRequest): string | undefined {
  const { dimension, bufferSize, minimum, clip, noiseMultiplier } = request;
  if (!isCount(dimension)) return `dimension must be a positive integer, got ${dimension}`;
  if (!(isCount(bufferSize) && bufferSize >= 2)) return `a buffer has at least 2 positions, got ${bufferSize}`;
  if (!(isCount(minimum) && minimum <= bufferSize)) return `minimum must be from 2 to ${bufferSize}, got ${minimum}`;
  if (!(clip > 0 && Number.isFinite(clip))) return `clip must be a positive number, got ${clip}`;
  if (!(noiseMultiplier > 0 && Number.isFinite(noiseMultiplier)))
    return `noise must be a positive number, got ${noiseMultiplier}`;
  return undefined;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}
