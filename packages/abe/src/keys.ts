/** The keys of the authority and of the users. Letters are the paper's (BSW07, 4.2), moved to a pairing of type 3. */
import type { G1, G2, GT, Scalar } from './group.ts';

/** PK. The paper's g is g1 and g2, which are fixed by the curve. */
export interface PublicKey {
  /** h = g1^beta */
  readonly h: G1;
  /** f = g2^(1/beta), from which BSW07 makes keys for fewer attributes. Here it shows that h and f belong together. */
  readonly f: G2;
  /** A = e(g1, g2)^alpha. g1^alpha or g2^alpha would open everything. */
  readonly a: GT;
}

/** MK. Deviates: the paper keeps g^alpha; alpha itself saves a multiplication per key. */
export interface MasterKey {
  readonly alpha: Scalar;
  readonly beta: Scalar;
  /** 1/beta, so that no key inverts a secret. */
  readonly betaInverse: Scalar;
}

/** SK for a set of attributes. */
export interface AttributeKey {
  /** D = g2^((alpha + r) / beta) */
  readonly d: G2;
  /** In the order of the attribute's bytes, each once. */
  readonly components: readonly KeyComponent[];
}

export interface KeyComponent {
  readonly attribute: Uint8Array;
  /** D_j = g1^r H(j)^r_j */
  readonly dj: G1;
  /** D'_j = g2^r_j */
  readonly djPrime: G2;
}

/** Ascending by bytes: the one order in which attributes are written and hashed. */
export function compareAttributes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
