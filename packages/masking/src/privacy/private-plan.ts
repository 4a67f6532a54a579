/** The quantiser and the group of a task whose sums are differentially private, and the privacy of its users. */
import { elementBits, type Modulus, RING_32, ring, signedCapacity } from '../modulus.ts';
import { epsilonOf, inclusionCost } from './accountant.ts';
import {
  MIN_DEVIATION,
  type Noise,
  type NoiseRequest,
  noiseOf,
  noiseProblem,
  noiseToSignal,
  noisySumBound,
} from './noise.ts';

export interface PrivatePlanRequest extends Omit<NoiseRequest, 'level'> {
  /** K. */
  readonly bufferSize: number;
  readonly delta: number;
  /** T: the number of sums a device may be in. */
  readonly participations: number;
}

export interface PrivatePlan {
  readonly level: number;
  readonly modulus: Modulus;
  /** The fewest bits that hold a sum; the group has at least as many. */
  readonly neededBits: number;
  readonly noise: Noise;
  /** rho of one inclusion, and epsilon after all of them. */
  readonly cost: number;
  readonly epsilon: number;
  /** At alpha = 1. */
  readonly noiseToSignal: number;
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
  const { bufferSize, noiseMultiplier, delta, participations } = request;
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
  const cost = inclusionCost(noiseMultiplier);
  const plan: PrivatePlan = {
    level,
    modulus,
    neededBits: Math.min(elementBits(modulus), Math.ceil(Math.log2(2 * needed + 1))),
    noise,
    cost,
    epsilon: epsilonOf(participations * cost, delta),
    noiseToSignal: noiseToSignal(chosen, bufferSize),
  };
  return { kind: 'planned', plan };
}

/** The smallest K at which the noise in a mean does not exceed the signal, if everything else grows in proportion. */
export function bufferForSignal({ noiseToSignal: ratio }: PrivatePlan, bufferSize: number): number {
  // h grows with K, so the ratio falls as 1/K.
  return Math.ceil(ratio * bufferSize);
}

/** c C >= 2 sqrt(d), and s >= 4: D grows with the level, so a higher level helps if noise is small. */
function coarsestLevel(request: PrivatePlanRequest): number {
  const { dimension, clip, minimum, colluders, noiseMultiplier, isCentral = false } = request;
  const honest = isCentral ? 1 : Math.max(1, minimum - colluders);
  const byDimension = (2 * Math.sqrt(dimension)) / clip;
  const byNoise = (MIN_DEVIATION * Math.sqrt(honest)) / noiseMultiplier / clip;
  // D > c C, so this level is enough, and at most a few steps too fine.
  return Math.max(1, Math.ceil(byDimension), Math.ceil(byNoise));
}

function invalidField(request: PrivatePlanRequest): string | undefined {
  const { dimension, bufferSize, minimum, clip, noiseMultiplier, delta, participations } = request;
  if (!isCount(dimension)) return `dimension must be a positive integer, got ${dimension}`;
  if (!(isCount(bufferSize) && bufferSize >= 2)) return `a buffer has at least 2 positions, got ${bufferSize}`;
  if (!(isCount(minimum) && minimum <= bufferSize)) return `minimum must be from 2 to ${bufferSize}, got ${minimum}`;
  if (!(clip > 0 && Number.isFinite(clip))) return `clip must be a positive number, got ${clip}`;
  if (!(noiseMultiplier > 0 && Number.isFinite(noiseMultiplier)))
    return `noise must be a positive number, got ${noiseMultiplier}`;
  if (!(delta > 0 && delta < 1)) return `delta must be in (0, 1), got ${delta}`;
  return isCount(participations) ? undefined : `participations must be a positive integer, got ${participations}`;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}
