/** The message to a thread that masks: one piece of a vector, and the part of the plan that applies to it. */
import type { MaskPlan } from '@basa/masking';

export interface MaskTask extends Omit<MaskPlan, 'terms'> {
  readonly piece: Uint32Array<ArrayBuffer>;
  readonly signs: readonly (1 | -1)[];
  /** The salt of each term that has its own. */
  readonly salts: readonly (Uint8Array | undefined)[];
  /** One after the other, in the order of the signs; wiped by the thread. */
  readonly seeds: Uint8Array<ArrayBuffer>;
}
