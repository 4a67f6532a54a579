/**
 * The part of a private task's budget that a device has spent: each upload that it gave, whatever became of it. The mark is durable before
 * the header leaves, so the count is never too low, and a crash between mark and header counts at most one upload too much.
 */
import { epsilonAfter, type NoisyTask, type PrivacyPolicy, participationsOf } from '../wire/privacy.ts';
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

/** Undefined if the task is not private. */
export function privacySpent(
  { given }: DeviceLedger,
  { privacy, metrics }: { readonly privacy: PrivacyPolicy | undefined; readonly metrics: readonly unknown[] },
): PrivacySpent | undefined {
  if (privacy?.budget === undefined) return undefined;
  const { delta, participations } = privacy.budget;
  const inclusions = given?.uploads ?? 0;
  const after = (count: number) => epsilonAfter({ privacy, metrics }, { delta, participations: count });
  return { inclusions, participations, epsilon: after(inclusions), epsilonBudget: after(participations), delta };
}

/** Checks that one more update may be given. */
export function budgetProblem(
  { given }: DeviceLedger,
  policy: Pick<NoisyTask, 'privacy' | 'statistics'>,
): Refused | undefined {
  const [uploads, most] = [given?.uploads ?? 0, participationsOf(policy)];
  if (most === undefined || uploads < most) return undefined;
  return refused('budget-spent', { detail: `${uploads} of ${most} inclusions` });
}
