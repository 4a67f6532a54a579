/**
 * The part of a private task's budget that a device has spent. A charge is the ledger's mark delta -> ctx: it is durable before the header
 * of an upload leaves, only the authorities' signed "expired" takes it back, and the same update in the same upload is one charge, even if it
 * is written several times. So the charge is never too low, and a crash between mark and header charges at most
 * one inclusion too much.
 */
import { toHex } from '@basa/masking';
import { epsilonBudget, type PrivacyPolicy } from '../wire/privacy.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import type { DeviceLedger } from './ledger.ts';

/** Inclusions and epsilon, of this device and of its whole budget. */
export interface PrivacySpent {
  readonly inclusions: number;
  readonly participations: number;
  readonly epsilon: number;
  readonly epsilonBudget: number;
  readonly delta: number;
}

export function privacySpent({ deltas }: DeviceLedger, privacy: PrivacyPolicy): PrivacySpent {
  const { delta, participations } = privacy;
  return {
    inclusions: deltas.size,
    participations,
    epsilon: epsilonBudget(privacy, deltas.size),
    epsilonBudget: epsilonBudget(privacy),
    delta,
  };
}

/** Checks that the update may be given away: one more charge must be within the budget. */
export function budgetProblem(
  { deltas }: DeviceLedger,
  privacy: PrivacyPolicy | undefined,
  deltaId?: Uint8Array,
): Refused | undefined {
  if (privacy === undefined) return undefined;
  const isCharged = deltaId !== undefined && deltas.has(toHex(deltaId));
  const charges = deltas.size + (isCharged ? 0 : 1);
  if (charges <= privacy.participations) return undefined;
  return refused('budget-spent', { detail: `${deltas.size} of ${privacy.participations} inclusions` });
}
