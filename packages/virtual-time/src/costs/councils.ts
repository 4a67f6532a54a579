/** The authorities of the one-shot mode: one, or four of which three decide and one may be silent or lie. */
import type { OneShotProtocolOptions } from '@basa/simulator';

export const THREE_OF_FOUR: Pick<OneShotProtocolOptions, 'council' | 'tolerated'> = {
  council: { authorities: 4, threshold: 3 },
  tolerated: 1,
};
