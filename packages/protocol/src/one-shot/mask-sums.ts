/** The sum of the masks of one part over a batch, which the server subtracts. */
import {
  applyMasksInPlace,
  type Keystream,
  type MaskTerm,
  type MaskTools,
  packVector,
  type Suite,
} from '@basa/masking';
import { partTerm, type ShotName } from '../wire/one-shot/part-sealing.ts';
import type { Part } from '../wire/one-shot/parts.ts';
import type { TaskPolicy } from '../wire/policy.ts';

/** An upload with the seed of the part. The seed is overwritten. */
export interface MaskedUpload {
  readonly name: ShotName;
  readonly seed: Uint8Array;
}

/** Terms that are expanded together: each block of the vector is loaded once for all of them. */
const AT_ONCE = 64;

/** M_A = sum over the batch of PRG(s_A), added to `sum` in place. Shards of a batch may be summed separately and added. */
export function addMasksInPlace(
  sum: Uint32Array,
  { suite, tools }: { readonly suite: Suite; readonly tools: MaskTools<Keystream> },
  { modulus }: Pick<TaskPolicy, 'modulus'>,
  part: Part,
  uploads: Iterable<MaskedUpload>,
): void {
  let terms: MaskTerm[] = [];
  const flush = (): void => {
    applyMasksInPlace(sum, { modulus, salt: new Uint8Array(32), terms }, tools);
    for (const { seed } of terms) seed.wipe();
    terms = [];
  };
  for (const { name, seed } of uploads) {
    terms.push(partTerm(suite, name, part, seed, 1));
    if (terms.length === AT_ONCE) flush();
  }
  flush();
}

/** A sum in its encoded form. */
export function packSum(
  sum: Uint32Array,
  { modulus }: Pick<TaskPolicy, 'modulus'>,
  { kernel }: Pick<MaskTools<Keystream>, 'kernel'>,
): Uint8Array {
  return packVector(sum, modulus, kernel);
}
