/** The privacy budget that a device has spent. */
import { budgetProblem, type PrivacySpent, privacySpent } from '@basa/protocol/one-shot';
import type { Rejection } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { rejected } from './rejections.ts';

/** Undefined if the task is not private. */
export function spentBy({ policy, state }: DeviceContext): PrivacySpent | undefined {
  return privacySpent(state.ledger, policy);
}

/** Before a device trains: returns the reason why it must not, or undefined. */
export function budgetRejection({ policy, state }: DeviceContext): Rejection | undefined {
  const problem = budgetProblem(state.ledger, policy);
  return problem && rejected(problem.reason, 'free', problem);
}

/** Reports a charge: the budget spent before, and now. */
export function tellSpent(context: DeviceContext): void {
  const spent = spentBy(context);
  if (spent !== undefined) context.events.emit('privacy', spent);
}
