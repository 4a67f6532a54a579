/**
 * The part of a private task's budget that a device has spent: each upload that it gave, whatever became of it. The mark is durable before
 * the header leaves, so the count is never too low, and a crash between mark and header counts at most one upload too much.
 */
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

export function privacySpent({ given }: DeviceLedger, privacy: PrivacyPolicy): PrivacySpent {
  const { delta, participations } = privacy;
  const inclusions = given?.uploads ?? 0;
  return {
    inclusions,
    participations,
    epsilon: epsilonBudget(privacy, inclusions),
    epsilonBudget: epsilonBudget(privacy),
    delta,
  };
}

/** Checks that one more update may be given. */
export function budgetProblem({ given }: DeviceLedger, privacy: PrivacyPolicy | undefined): Refused | undefined {
  const uploads = given?.uploads ?? 0;
  if (privacy === undefined || uploads < privacy.participations) return undefined;
  return refused('budget-spent', { detail: `${uploads} of ${privacy.participations} inclusions` });
}
