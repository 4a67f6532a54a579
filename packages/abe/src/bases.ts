/** The three fixed bases of encryption, with or without tables. */
import type { G1, G2, Group, GT, Scalar } from './group.ts';
import type { PublicKey } from './keys.ts';

/**
 * The number of multiplications after which a table of the base pays off. The table is built at that point, so a short process does not
 * build it, and no process spends more than twice the minimum.
 */
export const TABLES_PAY_FROM = 30;

export interface Bases {
  /** h^by */
  h(by: Scalar): G1;
  /** g2^by */
  g2(by: Scalar): G2;
  /** A^by */
  a(by: Scalar): GT;
  /** Frees the memory of the tables. */
  destroy(): void;
}

export function plainBases(publicKey: PublicKey, { g1, g2, gt }: Group): Bases {
  return {
    h: (by) => g1.multiply(publicKey.h, by),
    g2: (by) => g2.multiply(g2.generator, by),
    a: (by) => gt.power(publicKey.a, by),
    destroy: () => undefined,
  };
}

export function tableBases(publicKey: PublicKey, { g1, g2, gt }: Group): Bases {
  const h = g1.fixedBase(publicKey.h);
  const generator = g2.fixedBase(g2.generator);
  const a = gt.fixedBase(publicKey.a);
  return {
    h: (by) => h.multiply(by),
    g2: (by) => generator.multiply(by),
    a: (by) => a.multiply(by),
    destroy() {
      for (const table of [h, generator, a]) table.destroy();
    },
  };
}
