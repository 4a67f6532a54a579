/**
 * Exact uniformity in a tiny group: every mask takes every value of Z_q, and each set of uploads must take each of its
 * joint values equally often. The signs come from the mask plans of the real code; only PRG(seed) is enumerated.
 */
import { type MaskPlan, toHex } from '@basa/masking';

/** The masks of one upload: seeds by name, with signs. */
export type MaskEquation = readonly { readonly seed: string; readonly sign: 1 | -1 }[];

export function equationOf({ terms }: MaskPlan): MaskEquation {
  return terms.map(({ seed, sign }) => ({ seed: toHex(seed.reveal()), sign }));
}

/** The equations that remain for an attacker who knows these seeds. */
export function withoutSeeds(
  equations: readonly MaskEquation[],
  known: (seed: string) => boolean,
): readonly MaskEquation[] {
  return equations.map((equation) => equation.filter(({ seed }) => !known(seed)));
}

/** The number of occurrences of each joint value of all uploads, over every value of every mask; y_0 is the lowest digit. */
export function jointCounts(equations: readonly MaskEquation[], inputs: readonly number[], q: number): Uint32Array {
  const seeds = [...new Set(equations.flatMap((equation) => equation.map(({ seed }) => seed)))];
  const signs = equations.map((equation) =>
    seeds.map((name) => equation.reduce((total, { seed, sign }) => (seed === name ? total + sign : total), 0)),
  );
  const counts = new Uint32Array(q ** equations.length);
  const masks = new Array<number>(seeds.length).fill(0);
  const assignments = q ** seeds.length;
  for (let assignment = 0; assignment < assignments; assignment++) {
    for (let rest = assignment, n = 0; n < masks.length; n++, rest = Math.floor(rest / q)) masks[n] = rest % q;
    let index = 0;
    for (let l = equations.length - 1; l >= 0; l--) {
      const row = signs[l] as number[];
      let y = inputs[l] as number;
      for (let n = 0; n < masks.length; n++) y += (row[n] as number) * (masks[n] as number);
      index = index * q + (((y % q) + q) % q);
    }
    counts[index] = (counts[index] as number) + 1;
  }
  return counts;
}

/** The sets of uploads whose joint values are not equally likely, as lists of positions. */
export function unevenSubsets(counts: Uint32Array, uploads: number, q: number): readonly (readonly number[])[] {
  const subsets = Array.from({ length: 2 ** uploads - 1 }, (_, n) =>
    Array.from({ length: uploads }, (__, l) => l).filter((l) => ((n + 1) >> l) & 1),
  );
  return subsets.filter((subset) => {
    const marginal = new Float64Array(q ** subset.length);
    for (let index = 0; index < counts.length; index++) {
      let at = 0;
      for (let n = subset.length - 1; n >= 0; n--) at = at * q + (Math.floor(index / q ** (subset[n] as number)) % q);
      marginal[at] = (marginal[at] as number) + (counts[index] as number);
    }
    return marginal.some((count) => count !== marginal[0]);
  });
}
