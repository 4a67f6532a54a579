/** Weights alpha of late updates: functions of staleness, the versions that passed since the model was downloaded. */
import { power } from '../numbers/exact-math.ts';

export type Staleness =
  | { readonly kind: 'constant' }
  /** (1 + tau)^-exponent; FedBuff's is 1/2. */
  | { readonly kind: 'polynomial'; readonly exponent: number }
  /** 1 up to `late`, then 1 / (slope (tau - late) + 1) (FedAsync). */
  | { readonly kind: 'hinge'; readonly slope: number; readonly late: number }
  /** Another function up to `limit`; beyond it the update counts nothing. */
  | { readonly kind: 'maximum'; readonly limit: number; readonly within: Staleness };

export const FEDBUFF_STALENESS: Staleness = { kind: 'polynomial', exponent: 0.5 };

/** alpha in [0, 1]; 0 means that the update is to be discarded. */
export function stalenessWeight(staleness: Staleness, tau: number): number {
  if (!Number.isInteger(tau) || tau < 0) throw new RangeError(`staleness must be an integer >= 0, got ${tau}`);
  switch (staleness.kind) {
    case 'constant':
      return 1;
    case 'polynomial':
      return power(1 + tau, -staleness.exponent);
    case 'hinge':
      return tau <= staleness.late ? 1 : 1 / (staleness.slope * (tau - staleness.late) + 1);
    case 'maximum':
      return tau > staleness.limit ? 0 : stalenessWeight(staleness.within, tau);
  }
}
