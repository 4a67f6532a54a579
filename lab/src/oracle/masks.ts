/** The masks of the uploads of a task as numbers: the oracle finds out which of them an authority added up. */
import { addInPlace, applyMasksInPlace, type MaskPlan, Secret, toHex } from '@basa/masking';
import { nodeTools } from '@basa/simulator/virtual-time';
import type { MaskName } from './trace.ts';

const { masks: tools } = nodeTools();

/** One output of the PRG. */
export interface Mask {
  readonly name: MaskName;
  readonly words: Uint32Array;
}

/** The masks of a plan, each by itself; the plan's seeds are left as they are. */
export function masksOf({ modulus, salt, terms }: MaskPlan, elements: number): readonly Mask[] {
  return terms.map((term) => {
    const seed = term.seed.reveal();
    const words = new Uint32Array(elements);
    const own = { ...term, seed: new Secret(seed.slice()), sign: 1 as const };
    applyMasksInPlace(words, { modulus, salt, terms: [own] }, tools);
    return { name: `${toHex(term.salt ?? salt)}:${toHex(seed)}`, words };
  });
}

/** Masks whose sum this is: first the expected ones, then any of the others. Undefined if there are none. */
export function explained(
  sum: Uint32Array,
  expected: readonly Mask[],
  others: readonly Mask[],
  modulus: MaskPlan['modulus'],
): readonly Mask[] | undefined {
  const isSum = (some: readonly Mask[]): boolean =>
    some.length > 0 && summed(some, modulus).every((word, n) => word === sum[n]);
  if (isSum(expected)) return expected;
  const all = [...new Set([...expected, ...others])].slice(0, MAX_SEARCHED);
  for (let code = 0; code < 2 ** all.length; code++) {
    const some = all.filter((_, n) => (code >> n) & 1);
    if (isSum(some)) return some;
  }
  return undefined;
}

const MAX_SEARCHED = 14;

export function summed(masks: readonly Mask[], modulus: MaskPlan['modulus']): Uint32Array {
  const total = new Uint32Array(masks[0]?.words.length ?? 0);
  for (const { words } of masks) addInPlace(total, words, modulus, tools.kernel);
  return total;
}
