/** One shard of a sum: adds that part of every body block by block, subtracts the sums of masks, and judges the result. */
import {
  addInPlace,
  addPackedInPlace,
  dequantizeSum,
  elementBits,
  subtractInPlace,
  toSigned,
  type VectorKernel,
} from '@basa/masking';
import { judgeBehind, judgeCoordinates, judgePrefix, prefixElements, type SumRules, updateWords } from '@basa/protocol';
import { type BlobStore, collect } from '../../blobs/blob-store.ts';
import { wordPieces } from '../../blobs/words.ts';
import type { SummedShard, SumShardTask } from './tasks.ts';

export interface SumShardTools {
  readonly kernel: VectorKernel;
  readonly blobs: BlobStore;
}

export async function sumShard(task: SumShardTask, tools: SumShardTools): Promise<SummedShard> {
  const { rules, from, to, keys, subtracted } = task;
  const total = new Uint32Array(to - from);
  for (const key of subtracted) await addBody(total, rules, { key, from }, tools);
  negateInPlace(total, rules, tools);
  for (const key of keys) await addBody(total, rules, { key, from }, tools);
  return judged(rules, total, task, tools.kernel);
}

function negateInPlace(total: Uint32Array, { modulus }: SumRules, { kernel }: SumShardTools): void {
  const sum = total.slice();
  total.fill(0);
  subtractInPlace(total, sum, modulus, kernel);
}

function judged(rules: SumRules, total: Uint32Array, task: SumShardTask, kernel: VectorKernel): SummedShard {
  const { keys, from } = task;
  const prefix = from === 0 ? judgePrefix(rules, total, keys.length) : undefined;
  if (prefix?.kind === 'quarantine') return prefix;
  const weightSum = prefix?.weightSum ?? task.weightSum;
  if (weightSum === undefined) throw new Error('a later shard needs the sum of weights of the first');
  const { update: coordinates, behind } = updateWords(rules, total, from);
  const updates = { accepted: keys.length, weightSum };
  const first = Math.max(0, from - prefixElements(rules));
  const spoilt = judgeBehind(behind) ?? judgeCoordinates(rules, coordinates, updates, first, kernel);
  if (spoilt !== undefined) return spoilt;
  const { modulus, statistics, weightScale } = rules;
  const mean =
    statistics === undefined
      ? dequantizeSum(coordinates, rules, { weightSum, weightScale }, kernel)
      : Float64Array.from(coordinates, (word) => toSigned(word, modulus));
  return { kind: 'shard', mean, ...(prefix !== undefined && { prefix }) };
}

/** total += this part of the y of one body. Shards begin at whole bytes for any number of bits per element. */
async function addBody(
  total: Uint32Array,
  { modulus }: SumRules,
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
