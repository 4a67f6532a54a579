/**
 * Turns an update into the masked input: x' = [1, 0, 0, 0 | w | metrics | x | 0, 0, 0, 0], x = Quant((w/W) clip(delta)), quantised once.
 * No update is refused for its numbers: zero, vanishing, repeated or not finite, it is sent.
 */
import { integerWeight, quantize, type RandomWords, type VectorKernel } from '@basa/masking';
import { inputElements, updateWords, writePrefix } from '../wire/input-words.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import type { SumRules } from '../wire/sum-rules.ts';
import { quantizeWithNoise } from './noisy-update.ts';

export interface UpdateInput {
  readonly delta: Float32Array;
  /** In (0, 1]: the weight of the update; 1 by default, and always in a private task. */
  readonly exampleWeight?: number;
  /** By name: a number for each metric that the task names; the low end of its range stands for one that is missing or no number. */
  readonly metrics?: Readonly<Record<string, number>>;
  readonly randomWords: RandomWords;
  /** Optional; quantises faster, with the same bits. */
  readonly kernel?: VectorKernel | undefined;
}

export type BuiltInput =
  | {
      readonly kind: 'input';
      /** x'. */
      readonly vector: Uint32Array;
      readonly weight: number;
      readonly clipped: number;
    }
  | Refused;

export function buildInput(rules: SumRules, update: UpdateInput): BuiltInput {
  const { delta, metrics = {}, randomWords, kernel } = update;
  if (delta.length !== rules.dimension)
    return refused('wrong-length', { detail: `${delta.length} instead of ${rules.dimension}` });
  const isPrivate = rules.privacy !== undefined;
  // Every update of a sum is equally old: the server weights the whole sum by its age.
  const alpha = isPrivate ? 1 : (update.exampleWeight ?? 1);
  const weight = integerWeight(alpha, rules.weightScale);
  const vector = new Uint32Array(inputElements(rules));
  writePrefix(vector, rules, { weight, metrics });
  const options = { kernel, into: updateWords(rules, vector).update };
  const quantizer = isPrivate ? quantizeWithNoise : quantize;
  const { clipped } = quantizer(delta, rules, randomWords, weight / rules.weightScale, options);
  return { kind: 'input', vector, weight, clipped };
}
