/** CT of BSW07 (4.2) as a KEM with an AEAD behind it. */
import type { G1, G2 } from './group.ts';
import type { Policy } from './policy.ts';

/** Lets a holder of satisfying attributes compute the shared secret A^s. */
export interface Encapsulation {
  /** The tree, which is public. */
  readonly policy: Policy;
  /** C = h^s */
  readonly c: G1;
  /** One per leaf, from left to right. */
  readonly leaves: readonly LeafPart[];
}

export interface LeafPart {
  /** C_y = g2^q_y(0) */
  readonly cy: G2;
  /** C'_y = H(att(y))^q_y(0) */
  readonly cyPrime: G1;
}

/** Deviates: the paper's C~ = M A^s takes an element of GT; here an AEAD under a key made of A^s takes any bytes. */
export interface Ciphertext {
  readonly encapsulation: Encapsulation;
  readonly sealed: Uint8Array;
}
