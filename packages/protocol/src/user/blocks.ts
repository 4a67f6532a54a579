/**
 * No block of the quantised update may vanish: if it does for all users but one, the sum shows that one's entries. A server
 * that chooses the model can bring this about. The floats do not matter here: they may be small without being zero.
 */
import { modulusSize, type Quantizer, signedCapacity } from '@basa/masking';
import { type Refused, refused } from '../wire/refusals.ts';

/** A tensor of the model: the position of its parameters in the flat vector. */
export type Block = readonly [offset: number, length: number];

/** Blocks of fewer entries are judged together with their neighbours: a few biases may well be zero. */
const MIN_ENTRIES = 64;

/** Judges x as it will be masked, with its weight in it. */
export function blockProblem(
  { level, modulus, blockFloor }: Pick<Quantizer, 'level' | 'modulus'> & { readonly blockFloor: number },
  x: Uint32Array,
  blocks: readonly Block[],
): Refused | undefined {
  const [size, capacity] = [modulusSize(modulus), signedCapacity(modulus)];
  for (const group of groupsOf(blocks, x.length)) {
    let squares = 0;
    for (const [offset, length] of group) {
      for (let k = offset; k < offset + length; k++) {
        const residue = x[k] as number;
        const integer = residue <= capacity ? residue : residue - size;
        squares += integer * integer;
      }
    }
    const norm = Math.sqrt(squares) / level;
    if (norm > 0 && norm >= blockFloor) continue;
    const entries = group.map(([offset, length]) => `${offset} to ${offset + length - 1}`).join(', ');
    return refused('zero-block', { detail: `entries ${entries}: norm ${norm}, at least ${blockFloor} is needed` });
  }
  return undefined;
}

/**
 * The groups that must not vanish: every large block, and groups of adjacent small blocks. A few small blocks next to a large one form no
 * group: they are not checked, and they do not count for the large block.
 */
function groupsOf(blocks: readonly Block[], entries: number): readonly (readonly Block[])[] {
  const groups: (readonly Block[])[] = [];
  let small: readonly Block[] = [];
  for (const block of blocks) {
    const [offset, length] = block;
    const isInside = Number.isInteger(offset) && Number.isInteger(length) && offset >= 0 && length >= 0;
    if (!isInside || offset + length > entries) throw new RangeError(`no block of ${entries} entries: [${block}]`);
    small = length > 0 ? [...small, block] : small;
    if (small.reduce((sum, [, own]) => sum + own, 0) < MIN_ENTRIES) continue;
    groups.push(length >= MIN_ENTRIES ? [block] : small);
    small = [];
  }
  return groups.length === 0 && small.length > 0 ? [small] : groups;
}
