/** The masks of one upload of the paper's protocol at K = 10: `masking` and `browser` expand the same ones. */
import { type MaskPlan, type Modulus, Secret } from '@basa/masking';

/** One seed shared with each other position. */
export const EXPANSIONS = 9;

export function planOf(modulus: Modulus): MaskPlan {
  const terms = Array.from({ length: EXPANSIONS }, (_, i) => ({
    seed: new Secret(new Uint8Array(32).fill(i + 1)),
    sign: i % 2 === 0 ? (1 as const) : (-1 as const),
  }));
  return { modulus, salt: new Uint8Array(32), terms };
}
