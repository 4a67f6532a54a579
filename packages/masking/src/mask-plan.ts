/** The masks that a user adds to its vector, as data: seeds with signs. A kernel carries the plan out. */
import type { Modulus } from './modulus.ts';
import type { Secret } from './secret.ts';

export interface MaskTerm {
  readonly seed: Secret;
  /** +1 adds PRG(seed), -1 subtracts it. */
  readonly sign: 1 | -1;
  /** HKDF salt of this term, if it is not the plan's: in the one-shot mode every upload has its own. */
  readonly salt?: Uint8Array;
}

export interface MaskPlan {
  readonly modulus: Modulus;
  /** HKDF salt of the terms: ctx of the buffer in `paper` mode, so that a seed used twice differs by buffer. */
  readonly salt: Uint8Array;
  readonly terms: readonly MaskTerm[];
  /** The element of the stream that meets element 0; a multiple of 16. For vectors handled in shards. */
  readonly firstWord?: number;
}
