/** An update as residues: clipped to the L2 norm, and rounded within a bound. */
import { type RandomWords, roundWithin, toResidue } from '@basa/masking';
import type { SumRules } from '../wire/sum-rules.ts';

/** Writes the residues into `vector`. Returns the norm that the update had. */
export function roundedUpdate(
  delta: Float32Array,
  rules: SumRules,
  randomWords: RandomWords,
  weight: number,
  vector: Uint32Array,
): number {
  const { integers, norm } = roundWithin(delta, rules, randomWords, weight);
  for (let k = 0; k < integers.length; k++) vector[k] = toResidue(integers[k] as number, rules.modulus);
  integers.fill(0);
  return norm;
}
