/** What became of an update, by the signed word of its authorities; it alone frees one for another buffer. */
import { equalBytes, fromHex } from '@basa/masking';
import type { DeltaCommitment, OutcomeBody, OutcomeOf } from '@basa/protocol';
import { agreedOutcome, judgeOutcome, releaseDelta } from '@basa/protocol';
import { isOfService, RefusedError } from '../errors.ts';
import type { ContributionOutcome } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';

/** Asks, and frees the update where the answer allows it. */
export async function askOutcome(
  context: DeviceContext,
  commitment: DeltaCommitment,
  signal: AbortSignal,
): Promise<ContributionOutcome> {
  const { authorities, outside, pins, state } = context;
  const agreed = (answers: readonly OutcomeOf[]): OutcomeBody | undefined =>
    agreedOutcome(outside.suite, pins.policy, commitment.ctx, answers);
  const outcomes = await authorities.outcomes(commitment.ctx, (answers) => agreed(answers) !== undefined, signal);
  const ports = { suite: outside.suite, council: pins.policy };
  const judged = judgeOutcome(ports, commitment, outcomes);
  const status = agreed(outcomes)?.status;
  // With several authorities a mix below the threshold is no fault: it is not decided yet.
  const isAlone = pins.policy.authorities.length === 1;
  if (judged.kind === 'refused' && judged.reason === 'outcome-invalid') {
    if (isAlone) throw new RefusedError('outcome-invalid');
    return 'undecided';
  }
  if (judged.kind === 'included')
    return (await isQuarantined(context, commitment, signal)) ? 'quarantined' : 'included';
  if (judged.kind === 'refused') return status === 'unknown' ? 'unknown' : 'undecided';
  const held = [...state.ledger.deltas].find(([, given]) => equalBytes(given.joinTag, commitment.joinTag));
  if (held !== undefined) {
    await state.take(releaseDelta(ports, state, fromHex(held[0]) as Uint8Array, outcomes));
  }
  return status === 'aborted' ? 'aborted' : 'excluded';
}

/** The server's word, which frees nothing: the sum it is in was not applied. */
async function isQuarantined(
  { server }: DeviceContext,
  { ctx, joinTag }: DeltaCommitment,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (await server.fate(ctx, joinTag, signal)) === 'quarantined';
  } catch (error) {
    if (isOfService(error)) return false;
    throw error;
  }
}
