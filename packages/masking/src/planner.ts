/** Proves, before anything runs, that K quantised updates cannot wrap around; refuses a configuration that could. */
import { elementBits, type Modulus, modulusName, modulusSize, RING_32, ring, signedCapacity } from './modulus.ts';
import { quantizedBound } from './quantizer.ts';

export interface PlanRequest {
  /** K, the most updates one sum may hold. */
  readonly summands: number;
  /** Entries beyond +-clip are clipped. */
  readonly clip: number;
  /** Resolution: steps to the unit, or signed bits of one quantised entry (the finest level that fits them). */
  readonly resolution: { readonly level: number } | { readonly bits: number };
  /** The largest integer weight a sum multiplies an update with after masking (c_g of LightSecAgg); 1 by default. */
  readonly weightLimit?: number;
  /** Factor by which the largest sum stays below the capacity; 1 by default. */
  readonly headroom?: number;
  /** A given group, or `auto` for the narrowest ring of 16, 20, 24 or 32 bits that holds the sum; the ring 2^32 by default. */
  readonly modulus?: Modulus | 'auto';
}

export interface QuantizerPlan {
  readonly modulus: Modulus;
  readonly level: number;
  readonly clip: number;
  /** The largest absolute value of one entry, and of K of them with their weights. */
  readonly entryBound: number;
  readonly sumBound: number;
  /** floor((q - 1) / 2): sumBound * headroom never exceeds it. */
  readonly capacity: number;
  /** W, the scale of masked weights. */
  readonly weightScale: number;
  /** Every entry of an unweighted mean is closer than this to the mean of the clipped reals. */
  readonly worstError: number;
  /** Bound on the standard deviation of the rounding in an unweighted mean of K. */
  readonly meanDeviation: number;
  readonly bitsPerElement: number;
  /** The inequality that holds, in numbers. */
  readonly proof: string;
}

export type Planned =
  | { readonly kind: 'planned'; readonly plan: QuantizerPlan }
  | { readonly kind: 'refused'; readonly reason: 'could-wrap' | 'too-coarse' | 'invalid'; readonly sentence: string };

export function planQuantizer(request: PlanRequest): Planned {
  const problem = invalidField(request);
  if (problem !== undefined) return { kind: 'refused', reason: 'invalid', sentence: problem };
  const { summands, clip } = request;
  const level = resolveLevel(request);
  if (level < 1) return { kind: 'refused', reason: 'too-coarse', sentence: tooCoarse(request) };

  const entryBound = quantizedBound({ level, clip });
  const sumBound = summands * (request.weightLimit ?? 1) * entryBound;
  const needed = sumBound * (request.headroom ?? 1);
  const modulus = chooseModulus(request, needed);
  const capacity = signedCapacity(modulus);
  const scale = weightScale(summands, modulus);
  if (needed > capacity || scale < 1) {
    return { kind: 'refused', reason: 'could-wrap', sentence: couldWrap(request, level, entryBound, modulus) };
  }
  const plan: QuantizerPlan = {
    modulus,
    level,
    clip,
    entryBound,
    sumBound,
    capacity,
    weightScale: scale,
    worstError: 1 / level,
    meanDeviation: 1 / (2 * level * Math.sqrt(summands)),
    bitsPerElement: elementBits(modulus),
    proof: `${inequality(request, entryBound)} = ${needed} <= ${capacity} = floor((q-1)/2), ${modulusName(modulus)}`,
  };
  return { kind: 'planned', plan };
}

function invalidField(request: PlanRequest): string | undefined {
  const { summands, clip, resolution, weightLimit = 1, headroom = 1 } = request;
  if (!isCount(summands)) return `summands must be a positive integer, got ${summands}`;
  if (!(clip > 0 && Number.isFinite(clip))) return `clip must be a positive number, got ${clip}`;
  if (!isCount(weightLimit)) return `weightLimit must be a positive integer, got ${weightLimit}`;
  if (!(headroom >= 1 && Number.isFinite(headroom))) return `headroom must be at least 1, got ${headroom}`;
  if ('level' in resolution) {
    return isCount(resolution.level) ? undefined : `level must be a positive integer, got ${resolution.level}`;
  }
  const { bits } = resolution;
  return Number.isInteger(bits) && bits >= 2 && bits <= 32 ? undefined : `bits must be from 2 to 32, got ${bits}`;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

function resolveLevel({ resolution, clip }: PlanRequest): number {
  if ('level' in resolution) return resolution.level;
  return largestLevel(2 ** (resolution.bits - 1) - 1, clip);
}

/** The largest level whose entries stay within the bound. */
function largestLevel(bound: number, clip: number): number {
  let level = Math.min(Math.floor(bound / clip), Number.MAX_SAFE_INTEGER);
  while (level > 0 && quantizedBound({ level, clip }) > bound) level--;
  return level;
}

/** Whole bytes, or two elements in five of them: these pack and mask fast. */
const NARROW_RINGS: readonly Modulus[] = [ring(16), ring(20), ring(24)];

function chooseModulus({ modulus = RING_32 }: PlanRequest, needed: number): Modulus {
  if (modulus !== 'auto') return modulus;
  return NARROW_RINGS.find((narrow) => signedCapacity(narrow) >= needed) ?? RING_32;
}

function inequality({ summands, weightLimit = 1, headroom = 1 }: PlanRequest, entryBound: number): string {
  const factors = [`${summands} summands`, `entries up to ${entryBound}`];
  if (weightLimit > 1) factors.push(`weights up to ${weightLimit}`);
  if (headroom > 1) factors.push(`headroom ${headroom}`);
  return factors.join(' x ');
}

function couldWrap(request: PlanRequest, level: number, entryBound: number, modulus: Modulus): string {
  const { summands, clip, weightLimit = 1, headroom = 1 } = request;
  const capacity = signedCapacity(modulus);
  const factor = weightLimit * headroom;
  const fittingBound = Math.floor(capacity / (summands * factor));
  const remedies: string[] = [];
  const bits = Math.ceil(Math.log2(2 * summands * entryBound * factor + 2));
  if (bits <= 32 && bits > elementBits(modulus)) remedies.push(`use a ring of at least ${bits} bits`);
  const fittingLevel = largestLevel(fittingBound, clip);
  if (fittingLevel >= 1) remedies.push(`lower the level from ${level} to at most ${fittingLevel}`);
  if (fittingBound >= 1) remedies.push(`lower the clip from ${clip} to at most ${fittingBound / level}`);
  const fittingSummands = Math.floor(capacity / (entryBound * factor));
  if (fittingSummands >= 1) remedies.push(`sum at most ${fittingSummands} updates instead of ${summands}`);
  return (
    `The sum could wrap around: ${inequality(request, entryBound)} = ${summands * entryBound * factor}, ` +
    `but the ${modulusName(modulus)} holds only +-${capacity}. ` +
    `${remedies.length > 0 ? `Either ${remedies.join(', or ')}` : 'Use fewer summands, a lower level and a smaller clip'}.`
  );
}

function tooCoarse({ resolution, clip }: PlanRequest): string {
  const bits = 'bits' in resolution ? resolution.bits : 32;
  return `${bits} bits cannot hold one step to the unit at a clip of ${clip}: use more bits or clip at ${2 ** (bits - 1) - 1} or less.`;
}

// Staleness and example weights as integers, so that their sum can be masked like any other element.

/** W = min(2^16, floor((q - 1) / 2K)): the largest scale whose K-fold sum still fits. */
export function weightScale(summands: number, modulus: Modulus): number {
  return Math.min(2 ** 16, Math.floor((modulusSize(modulus) - 1) / (2 * summands)));
}

/** w = min(W, max(1, floor(alpha W + 1/2))) for a real weight alpha in (0, 1]. */
export function integerWeight(alpha: number, scale: number): number {
  if (!(alpha > 0 && alpha <= 1)) throw new RangeError(`alpha must be in (0, 1], got ${alpha}`);
  return Math.min(scale, Math.max(1, Math.floor(alpha * scale + 0.5)));
}
