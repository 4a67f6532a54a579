/** The authorities of `one-shot` mode: one, or four of which three decide and one may be silent or lie. */
import type { OneShotProtocolOptions } from '../protocols/basa-one-shot.ts';

export type OneShotName = 'BASA one-shot' | 'BASA one-shot (3 of 4)';

export const THREE_OF_FOUR: Pick<OneShotProtocolOptions, 'council' | 'tolerated'> = {
  council: { authorities: 4, threshold: 3 },
  tolerated: 1,
};

interface Council {
  readonly authorities: number;
  /** Masks of an update. */
  readonly parts: number;
  /** Sums of masks that the authorities make: each part's by one more than may lie. */
  readonly sums: number;
}

export const COUNCILS: Readonly<Record<OneShotName, Council>> = {
  'BASA one-shot': { authorities: 1, parts: 1, sums: 1 },
  'BASA one-shot (3 of 4)': { authorities: 4, parts: 4, sums: 8 },
};
