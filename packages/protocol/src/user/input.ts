/** Turns an update into the masked input: x' = [1, 0, 0, 0 | w | metrics | x | 0, 0, 0, 0], x = Quant((w/W) clip(delta)), quantised once. */
import { integerWeight, quantize, type RandomWords, type VectorKernel } from '@basa/masking';
import { inputElements, updateWords, writePrefix } from '../wire/input-words.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import type { SumRules } from '../wire/sum-rules.ts';
import { type Block, blockProblem } from './blocks.ts';
import { quantizeWithNoise } from './noisy-update.ts';

export interface UpdateInput {
  readonly delta: Float32Array;
  /** In (0, 1]: the weight of the update; 1 by default, and always in a private task. */
  readonly exampleWeight?: number;
  /** By name: a finite number for each metric that the task names. */
  readonly metrics?: Readonly<Record<string, number>>;
  /** The blocks of the parameters, none of which may vanish; without them the whole update is one block. */
  readonly blocks?: readonly Block[];
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
  const { delta, metrics = {}, blocks = [[0, delta.length]], randomWords, kernel } = update;
  if (delta.length !== rules.dimension)
    return refused('wrong-length', { detail: `${delta.length} instead of ${rules.dimension}` });
  const missing = rules.metrics.find(({ name }) => !Number.isFinite(metrics[name]));
  if (missing !== undefined) return refused('metric-missing', { detail: missing.name });
  const isPrivate = rules.privacy !== undefined;
  // Every update of a sum is equally old: the server weights the whole sum by its age.
  const alpha = isPrivate ? 1 : (update.exampleWeight ?? 1);
  const weight = integerWeight(alpha, rules.weightScale);
  const vector = new Uint32Array(inputElements(rules));
  writePrefix(vector, rules, { weight, metrics });
  const options = { kernel, into: updateWords(rules, vector).update };
  const quantizer = isPrivate ? quantizeWithNoise : quantize;
  const quantized = quantizer(delta, rules, randomWords, weight / rules.weightScale, options);
  if (quantized.kind === 'refused')
    return refused('not-finite', { detail: `entry ${quantized.index} is ${quantized.value}` });
  // The noise fills every block, and a refusal that depends on the data would reveal something about it.
  const vanished = isPrivate ? undefined : blockProblem(rules, quantized.vector, blocks);
  if (vanished !== undefined) return vanished;
  return { kind: 'input', vector, weight, clipped: quantized.clipped };
}
