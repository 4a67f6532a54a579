/** An update of a private task as residues: clipped to the L2 norm, rounded within a bound, and with the device's noise on it. */
import type { Quantized, QuantizeOptions, RandomWords } from '@basa/masking';
import { addNoiseInPlace, noiseTable, roundWithin, toResidue } from '@basa/masking';
import { taskNoise } from '../wire/privacy.ts';
import type { DescriptorBody } from '../wire/statements.ts';

/** Drawn once for a buffer: two draws for one update would let the noise be averaged away. */
export function quantizeWithNoise(
  delta: Float32Array,
  descriptor: DescriptorBody,
  randomWords: RandomWords,
  weight: number,
  { into }: QuantizeOptions = {},
): Quantized {
  const noise = taskNoise(descriptor);
  if (noise === undefined) throw new Error('the task is not private');
  const rounded = roundWithin(delta, descriptor, randomWords, weight);
  if (rounded.kind === 'refused') return rounded;
  const { modulus } = descriptor;
  const vector = into ?? new Uint32Array(delta.length);
  rounded.integers.forEach((integer, k) => {
    vector[k] = toResidue(integer, modulus);
  });
  rounded.integers.fill(0);
  addNoiseInPlace(vector, noiseTable(noise.variance), modulus, randomWords);
  return { kind: 'quantized', vector, clipped: rounded.isClipped ? delta.length : 0 };
}
