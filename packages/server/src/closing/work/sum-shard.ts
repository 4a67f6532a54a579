/** One shard of a sum, as a worker adds it: that part of every body block by block, less the sums of masks, and judged. */
import type { LossName, ModelJson } from '@basa/learning';
import {
  addInPlace,
  addPackedInPlace,
  dequantizeSum,
  elementBits,
  subtractInPlace,
  toSigned,
  type VectorKernel,
} from '@basa/masking';
import type { Ctx } from '@basa/protocol';
import type { Live } from '@basa/protocol/http';
import { Sums } from '@basa/protocol/one-shot';
import { InputWords } from '@basa/protocol/wire';
import { type BlobStore, collect, wordPieces } from '../../blobs/blob-store.ts';
import type { BodyPlace } from '../../blobs/place.ts';

/** Given to every worker once. */
export interface WorkerOptions {
  readonly bodies: BodyPlace;
}

export interface Quarantined {
  readonly kind: 'quarantine';
  readonly why: string;
}

/** The mean of some coordinates: elements `from` to before `to` of the vectors, the first of them guard words. */
export interface SumShardTask {
  readonly kind: 'sum-shard';
  readonly ctx: Ctx;
  readonly rules: InputWords.SumRules;
  /** The bodies of all updates of the sum. */
  readonly keys: readonly string[];
  /** Blobs of packed vectors that are subtracted. */
  readonly subtracted: readonly string[];
  readonly from: number;
  readonly to: number;
  /** Known from the first shard on. */
  readonly weightSum?: number | undefined;
}

/** The words before the coordinates, which describe the whole sum. */
export type GoodPrefix = Extract<InputWords.PrefixVerdict, { kind: 'good' }>;

/** A mean; in a statistics task, the sums themselves, which are exact. */
export type SummedWords = Float32Array | Float64Array;

export type SummedShard =
  /** `prefix` comes with the first shard. */
  { readonly kind: 'shard'; readonly mean: SummedWords; readonly prefix?: GoodPrefix | undefined } | Quarantined;

export interface EvaluateTask {
  readonly kind: 'evaluate';
  readonly model: ModelJson;
  readonly loss: LossName;
  readonly parameters: Float32Array;
  /** The blob of examples (`decodeDataset`), kept by the worker between calls. */
  readonly examples: string;
}

export interface Evaluated extends Live.Scores {
  readonly kind: 'evaluated';
  readonly loss: number;
}

export type WorkTask = SumShardTask | EvaluateTask;
export type WorkResult = SummedShard | Evaluated;

export interface SumShardTools {
  readonly kernel: VectorKernel;
  readonly blobs: BlobStore;
}

/** One shard of a sum: adds that part of every body block by block, subtracts the sums of masks, and judges the result. */
export async function sumShard(task: SumShardTask, tools: SumShardTools): Promise<SummedShard> {
  const { rules, from, to, keys, subtracted } = task;
  const total = new Uint32Array(to - from);
  for (const key of subtracted) await addBody(total, rules, { key, from }, tools);
  negateInPlace(total, rules, tools);
  for (const key of keys) await addBody(total, rules, { key, from }, tools);
  return judged(rules, total, task, tools.kernel);
}

function negateInPlace(total: Uint32Array, { modulus }: InputWords.SumRules, { kernel }: SumShardTools): void {
  const sum = total.slice();
  total.fill(0);
  subtractInPlace(total, sum, modulus, kernel);
}

function judged(rules: InputWords.SumRules, total: Uint32Array, task: SumShardTask, kernel: VectorKernel): SummedShard {
  const { keys, from } = task;
  const prefix = from === 0 ? InputWords.judgePrefix(rules, total, keys.length) : undefined;
  if (prefix?.kind === 'quarantine') return prefix;
  const weightSum = prefix?.weightSum ?? task.weightSum;
  if (weightSum === undefined) throw new Error('a later shard needs the sum of weights of the first');
  const { update: coordinates, behind } = InputWords.updateWords(rules, total, from);
  const updates = { accepted: keys.length, weightSum };
  const first = Math.max(0, from - InputWords.prefixElements(rules));
  const spoilt = InputWords.judgeBehind(behind) ?? Sums.judgeCoordinates(rules, coordinates, updates, first, kernel);
  if (spoilt !== undefined) return spoilt;
  const { modulus, statistics, weightScale } = rules;
  const mean =
    statistics === undefined
      ? dequantizeSum(coordinates, rules, { weightSum, weightScale }, kernel)
      : Float64Array.from(coordinates, (word) => toSigned(word, modulus));
  return { kind: 'shard', mean, prefix };
}

/** total += this part of the y of one body. Shards begin at whole bytes for any number of bits per element. */
async function addBody(
  total: Uint32Array,
  { modulus }: InputWords.SumRules,
  { key, from }: { readonly key: string; readonly from: number },
  { blobs, kernel }: SumShardTools,
): Promise<void> {
  const bits = elementBits(modulus);
  const [start, end] = [(from * bits) / 8, Math.ceil(((from + total.length) * bits) / 8)];
  const pieces = blobs.read(key, start, end);
  if (bits !== 32) {
    const problem = addPackedInPlace(total, await collect(pieces, end - start), modulus, kernel);
    if (problem !== undefined) throw new Error(`a stored vector is damaged: ${problem}`);
    return;
  }
  let at = 0;
  for await (const block of wordPieces(pieces)) {
    addInPlace(total.subarray(at, at + block.length), block, modulus, kernel);
    at += block.length;
  }
}
