/** The amount of noise each device adds, so that a sum has enough of it even if devices drop out, and the consequences for the sum. */
import { type Quantizer, quantizedBound } from '../quantizer.ts';
import { squaredBound } from './bounded-rounding.ts';
import { MAX_NOISE_DEVIATION } from './discrete-gaussian.ts';

/** The parameters that decide the noise. The clip bounds the L2 norm of an update. */
export interface NoiseRequest extends Pick<Quantizer, 'level' | 'clip'> {
  readonly dimension: number;
  /** Kmin: the smallest number of users in a sum, which the authority enforces. */
  readonly minimum: number;
  /** c_max: the number of them that may reveal their noise to the server. */
  readonly colluders: number;
  /** z. */
  readonly noiseMultiplier: number;
  /** One party adds the whole noise to the sum, instead of every device its share. */
  readonly isCentral?: boolean;
  /** The updates are whole numbers no longer than level times clip: nothing is rounded. */
  readonly isWhole?: boolean;
}

export interface Noise {
  /** D. */
  readonly norm: number;
  /** h: a sum has the noise of at least this many honest parties. Kmin - c_max devices, or 1 if it is added centrally. */
  readonly honest: number;
  /** s^2 = z^2 D^2 / h of one party. */
  readonly variance: number;
  readonly deviation: number;
  readonly isCentral: boolean;
}

/**
 * The smallest deviation at which a sum of discrete Gaussians is close to one: at 4 the gap is e^-158 (Kairouz, Liu,
 * Steinke 2021, Theorem 1).
 */
export const MIN_DEVIATION = 4;
/** A sum that deviates by more than this many deviations is not a sum of honest updates: only 1 of 10^22 coordinates does. */
const DEVIATIONS = 10;

export function noiseOf(request: NoiseRequest): Noise {
  const { dimension, level, clip, minimum, colluders, noiseMultiplier, isCentral = false, isWhole = false } = request;
  const honest = isCentral ? 1 : minimum - colluders;
  const squared = isWhole ? (level * clip) ** 2 : squaredBound(dimension, request);
  const variance = (noiseMultiplier ** 2 * squared) / honest;
  return { norm: Math.sqrt(squared), honest, variance, deviation: Math.sqrt(variance), isCentral };
}

/** K ceil(c C) + 10 s sqrt(K), or + 10 s with central noise: the largest absolute value of a coordinate of an honest sum of K. */
export function noisySumBound(
  quantizer: Pick<Quantizer, 'level' | 'clip'>,
  { deviation, isCentral }: Pick<Noise, 'deviation' | 'isCentral'>,
  summands: number,
): number {
  const draws = isCentral ? 1 : summands;
  return summands * quantizedBound(quantizer) + Math.ceil(DEVIATIONS * deviation * Math.sqrt(draws));
}

/** Returns a sentence that says why noise of this size cannot be added, and which values are possible. Undefined if it can be added. */
export function noiseProblem(request: NoiseRequest): string | undefined {
  const { dimension, level, clip, minimum, colluders, isWhole = false } = request;
  if (colluders + 2 > minimum)
    return `a minimum of ${minimum} does not tolerate ${colluders} colluding devices: allow at most ${Math.max(0, minimum - 2)}, or raise the minimum to at least ${colluders + 2}`;
  const steps = 2 * Math.sqrt(dimension);
  if (!isWhole && level * clip < steps)
    return `level ${level} is too coarse for noise: level times clip must be at least 2 sqrt(dimension), a level of at least ${Math.ceil(steps / clip)}`;
  const { deviation, isCentral } = noiseOf(request);
  const who = isCentral ? 'the authority' : 'a device';
  if (deviation < MIN_DEVIATION)
    return `${who} would add noise of deviation ${deviation.toPrecision(3)}, at least ${MIN_DEVIATION} is needed: raise the level to ${Math.ceil((level * MIN_DEVIATION) / deviation)}, or the noise`;
  if (deviation > MAX_NOISE_DEVIATION)
    return `${who} would add noise of deviation ${Math.ceil(deviation)}, at most ${MAX_NOISE_DEVIATION} can be drawn: lower the level to ${Math.floor((level * MAX_NOISE_DEVIATION) / deviation)}, or the noise`;
  return undefined;
}
