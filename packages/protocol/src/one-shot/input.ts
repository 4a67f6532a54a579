/**
 * Turns an update into the masked input: x' = [1, 0, 0, 0 | w | metrics | x | 0, 0, 0, 0], x = Quant((w/W) clip(delta)) + noise, once.
 * No update is refused for its numbers: zero, vanishing, repeated or not finite, it is sent.
 */
import {
  addNoiseInPlace,
  integerWeight,
  modulusSize,
  noiseTable,
  type RandomWords,
  roundWithin,
  toResidue,
} from '@basa/masking';
import { addMetricNoise, inputElements, type SumRules, updateWords, writePrefix } from '../wire/input.ts';
import { taskNoise } from '../wire/privacy.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { CLIPPED } from '../wire/training.ts';

export interface UpdateInput {
  readonly delta: Float32Array;
  /** In (0, 1]: the weight of the update; 1 by default, and always in a task with noise. */
  readonly exampleWeight?: number;
  /** By name: a number for each metric that the task names; the low end of its range stands for one that is missing or no number. */
  readonly metrics?: Readonly<Record<string, number>>;
  readonly randomWords: RandomWords;
}

export type BuiltInput =
  | {
      readonly kind: 'input';
      /** x'. */
      readonly vector: Uint32Array;
      readonly weight: number;
      /** Of the update, before it was clipped. */
      readonly norm: number;
    }
  | Refused;

export function buildInput(rules: SumRules, update: UpdateInput): BuiltInput {
  const { delta, metrics = {}, randomWords } = update;
  if (delta.length !== rules.dimension)
    return refused('wrong-length', { detail: `${delta.length} instead of ${rules.dimension}` });
  const noise = taskNoise(rules);
  // Every update of a sum is equally old: the server weights the whole sum by its age.
  const alpha = noise === undefined ? (update.exampleWeight ?? 1) : 1;
  const weight = integerWeight(alpha, rules.weightScale);
  const vector = new Uint32Array(inputElements(rules));
  const { update: words } = updateWords(rules, vector);
  const { integers, norm } = roundWithin(delta, rules, randomWords, weight / rules.weightScale);
  const size = modulusSize(rules.modulus);
  for (let k = 0; k < integers.length; k++) {
    const integer = integers[k] as number;
    words[k] = integer >= 0 ? integer : size + integer;
  }
  integers.fill(0);
  writePrefix(vector, rules, { weight, metrics: { ...metrics, [CLIPPED.name]: Number(norm > rules.clip) } });
  if (noise !== undefined && !noise.isCentral) {
    // Drawn once for each upload: two draws for one update would let the noise be averaged away.
    addNoiseInPlace(words, noiseTable(noise.variance), rules.modulus, randomWords);
    addMetricNoise(rules, vector, randomWords);
  }
  return { kind: 'input', vector, weight, norm };
}

/** Turns a report into x' = [1, 0, 0, 0 | W | level times its words + noise, once | 0, 0, 0, 0]. `words` are those of `reportWords`. */
export function buildReport(rules: SumRules, words: Int32Array, randomWords: RandomWords): Uint32Array {
  const vector = new Uint32Array(inputElements(rules));
  writePrefix(vector, rules, { weight: rules.weightScale, metrics: {} });
  const { update } = updateWords(rules, vector);
  for (let k = 0; k < words.length; k++) update[k] = toResidue(rules.level * (words[k] as number), rules.modulus);
  const noise = taskNoise(rules);
  if (noise !== undefined && !noise.isCentral)
    addNoiseInPlace(update, noiseTable(noise.variance), rules.modulus, randomWords);
  return vector;
}
