/** Turns a report into the masked input: x' = [1, 0, 0, 0 | W | level times its words + noise, once | 0, 0, 0, 0]. */
import { addNoiseInPlace, noiseTable, type RandomWords, toResidue } from '@basa/masking';
import { inputElements, updateWords, writePrefix } from '../wire/input-words.ts';
import { taskNoise } from '../wire/privacy.ts';
import type { SumRules } from '../wire/sum-rules.ts';

/** `words` are those of `reportWords`. */
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
