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

/**
 * Drawn once for each buffer: two draws for one update would let the noise be averaged away. An update with an entry
 * that is not a finite number counts as zeros: a server could choose a model on which devices with certain data
 * diverge, and a refusal would reveal which they are.
 */
export function quantizeWithNoise(
  delta: Float32Array,
  rules: SumRules,
  randomWords: RandomWords,
  weight: number,
  { into }: QuantizeOptions = {},
): Quantized {
  const noise = taskNoise(rules);
  if (noise === undefined) throw new Error('the task is not private');
  const hasDiverged = !delta.every(Number.isFinite);
  const bounded = hasDiverged ? new Float32Array(delta.length) : delta;
  const rounded = roundWithin(bounded, rules, randomWords, weight);
  if (rounded.kind === 'refused') throw new Error('an update of finite numbers was refused');
  const { modulus } = rules;
  const vector = into ?? new Uint32Array(delta.length);
  rounded.integers.forEach((integer, k) => {
    vector[k] = toResidue(integer, modulus);
  });
  rounded.integers.fill(0);
  if (!noise.isCentral) addNoiseInPlace(vector, noiseTable(noise.variance), modulus, randomWords);
  return { kind: 'quantized', vector, clipped: rounded.isClipped || hasDiverged ? delta.length : 0 };
}
