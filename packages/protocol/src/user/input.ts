/** Turns an update into the masked input: x' = [1, 0, 0, 0 | w | metrics | x], x = Quant((w/W) clip(delta)), quantised once. */
import { integerWeight, quantize, type RandomWords, type Suite, type VectorKernel } from '@basa/masking';
import { prefixElements, writePrefix } from '../wire/prefix.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { stalenessWeight } from '../wire/staleness.ts';
import type { SumRules } from '../wire/sum-rules.ts';
import { type Block, blockProblem } from './blocks.ts';
import { quantizeWithNoise } from './noisy-update.ts';

export interface UpdateInput {
  readonly delta: Float32Array;
  /** tau: the version the update was trained on. */
  readonly trainedOn: number;
  /** In (0, 1]: the weight of the update besides its staleness; 1 by default, and always in a private task. */
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
      readonly staleness: number;
      readonly clipped: number;
    }
  | Refused;

export function buildInput(rules: SumRules, update: UpdateInput): BuiltInput {
  const { delta, trainedOn, metrics = {}, blocks = [[0, delta.length]], randomWords, kernel } = update;
  if (delta.length !== rules.dimension)
    return refused('wrong-length', { detail: `${delta.length} instead of ${rules.dimension}` });
  const staleness = Math.max(0, rules.version - trainedOn);
  if (staleness > rules.maxStaleness)
    return refused('too-stale', { detail: `${staleness} exceeds ${rules.maxStaleness}` });
  const missing = rules.metrics.find(({ name }) => !Number.isFinite(metrics[name]));
  if (missing !== undefined) return refused('metric-missing', { detail: missing.name });
  const isPrivate = rules.privacy !== undefined;
  const exampleWeight = isPrivate ? 1 : (update.exampleWeight ?? 1);
  // With one version per buffer every update of the sum is equally old: the server weights the whole sum by its age.
  const ageWeight = rules.versions === 'one' ? 1 : stalenessWeight(rules.staleness, staleness);
  const alpha = ageWeight * exampleWeight;
  const weight = integerWeight(alpha, rules.weightScale);
  const prefix = prefixElements(rules);
  const vector = new Uint32Array(prefix + delta.length);
  writePrefix(vector, rules, { weight, trainedOn, metrics });
  const options = { kernel, into: vector.subarray(prefix) };
  const quantizer = isPrivate ? quantizeWithNoise : quantize;
  const quantized = quantizer(delta, rules, randomWords, weight / rules.weightScale, options);
  if (quantized.kind === 'refused')
    return refused('not-finite', { detail: `entry ${quantized.index} is ${quantized.value}` });
  // The noise fills every block, and a refusal that depends on the data would reveal something about it.
  const vanished = isPrivate ? undefined : blockProblem(rules, quantized.vector, blocks);
  if (vanished !== undefined) return vanished;
  return { kind: 'input', vector, weight, staleness, clipped: quantized.clipped };
}

/** Fixes x' before the deposit leaves: the same input is masked ever after (attack C1). */
export function inputDigestOf(suite: Suite, vector: Uint32Array): Uint8Array {
  return suite.sha256(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
}
