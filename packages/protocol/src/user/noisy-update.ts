/** An update of a private task as residues: clipped to the L2 norm, rounded within a bound, and with the device's noise, if devices add it. */
import {
  addNoiseInPlace,
  noiseTable,
  type Quantized,
  type QuantizeOptions,
  type RandomWords,
  roundWithin,
  toResidue,
} from '@basa/masking';
import { taskNoise } from '../wire/privacy.ts';
import type { SumRules } from '../wire/sum-rules.ts';

/** Drawn once for each upload: two draws for one update would let the noise be averaged away. */
export function quantizeWithNoise(
  delta: Float32Array,
  rules: SumRules,
  randomWords: RandomWords,
  weight: number,
  { into }: QuantizeOptions = {},
): Quantized {
  const noise = taskNoise(rules);
  if (noise === undefined) throw new Error('the task is not private');
  const rounded = roundWithin(delta, rules, randomWords, weight);
  const { modulus } = rules;
  const vector = into ?? new Uint32Array(delta.length);
  rounded.integers.forEach((integer, k) => {
    vector[k] = toResidue(integer, modulus);
  });
  rounded.integers.fill(0);
  if (!noise.isCentral) addNoiseInPlace(vector, noiseTable(noise.variance), modulus, randomWords);
  return { vector, clipped: rounded.isClipped ? delta.length : 0 };
}
