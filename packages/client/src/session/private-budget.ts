/** The privacy budget that a device has spent, and the charges that the authority's outcomes give back. */
import { budgetProblem, type PrivacySpent, privacySpent } from '@basa/protocol';
import type { Rejection } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { askOutcome } from './outcomes.ts';
import { rejected } from './rejections.ts';

/** Undefined if the task is not private. */
export function spentBy({ policy, state }: DeviceContext): PrivacySpent | undefined {
  return policy.privacy === undefined ? undefined : privacySpent(state.ledger, policy.privacy);
}

/**
 * Before a device trains: returns the reason why it must not, or undefined. If the whole budget is charged, it first
 * asks for the outcome of each charge: an update that expired costs nothing.
 */
export async function budgetRejection(context: DeviceContext, signal: AbortSignal): Promise<Rejection | undefined> {
  const { policy, state } = context;
  if (budgetProblem(state.ledger, policy.privacy) === undefined) return undefined;
  for (const commitment of [...state.ledger.deltas.values()]) {
    await askOutcome(context, commitment, signal);
    if (budgetProblem(state.ledger, policy.privacy) === undefined) return undefined;
  }
  const problem = budgetProblem(state.ledger, policy.privacy);
  return problem === undefined ? undefined : rejected(problem.reason, 'free', problem);
}

/** Reports a charge or refund: the budget spent before, and now. */
export function tellSpent(context: DeviceContext): void {
  const spent = spentBy(context);
  if (spent !== undefined) context.events.emit('privacy', spent);
}
