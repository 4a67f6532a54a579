/** One shard of a sum: adds that part of every body block by block, takes the masks off, and judges what is left. */
import {
  addInPlace,
  addPackedInPlace,
  applyMasksInPlace,
  dequantizeSum,
  elementBits,
  type Keystream,
  type MaskTools,
  type VectorKernel,
} from '@basa/masking';
import { ctxOf, type Descriptor, judgeCoordinates, judgePrefix, prefixElements } from '@basa/protocol';
import { type BlobStore, collect } from '../../blobs/blob-store.ts';
import { wordPieces } from '../../blobs/words.ts';
import { unpackTerms, wipeTerms } from './packed-terms.ts';
import type { SummedShard, SumShardTask } from './tasks.ts';

export interface SumShardTools extends MaskTools<Keystream> {
  readonly blobs: BlobStore;
}

export async function sumShard(task: SumShardTask, tools: SumShardTools): Promise<SummedShard> {
  const { descriptor, from, to, keys } = task;
  const total = new Uint32Array(to - from);
  for (const key of keys) await addBody(total, descriptor, { key, from }, tools);
  const salt = ctxOf(tools.suite, descriptor);
  const plan = { modulus: descriptor.modulus, salt, terms: unpackTerms(task.terms), firstWord: from };
  applyMasksInPlace(total, plan, tools);
  wipeTerms(task.terms);
  return judged(descriptor, total, task, tools.kernel);
}

function judged(descriptor: Descriptor, total: Uint32Array, task: SumShardTask, kernel: VectorKernel): SummedShard {
  const { keys, from } = task;
  const prefix = from === 0 ? judgePrefix(descriptor, total, keys.length) : undefined;
  if (prefix?.kind === 'quarantine') return { ...prefix, slots: [] };
  const weightSum = prefix?.weightSum ?? task.weightSum;
  if (weightSum === undefined) throw new Error('a later shard needs the sum of weights of the first');
  const skipped = prefixElements(descriptor);
  const coordinates = from === 0 ? total.subarray(skipped) : total;
  const updates = { accepted: keys.length, weightSum };
  const outOfRange = judgeCoordinates(descriptor, coordinates, updates, Math.max(0, from - skipped), kernel);
  if (outOfRange !== undefined) return { ...outOfRange, slots: [] };
  const { weightScale } = descriptor;
  const mean = dequantizeSum(coordinates, descriptor, { weightSum, weightScale }, kernel);
  return { kind: 'shard', mean, ...(prefix !== undefined && { prefix }) };
}

/** total += this part of the y of one body. Shards begin at whole bytes, however few bits an element has. */
async function addBody(
  total: Uint32Array,
  { modulus }: Descriptor,
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
