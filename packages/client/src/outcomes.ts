/** What became of an update, by the authority's signed word; it alone frees one for another buffer. */
import { equalBytes, fromHex } from '@basa/masking';
import type { DeltaCommitment, Outcome } from '@basa/protocol';
import { judgeOutcome, releaseDelta } from '@basa/protocol';
import type { ContributionOutcome } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { ProblemError, RefusedError, UnreachableError } from './errors.ts';

/** Asks, and frees the update where the answer allows it. */
export async function askOutcome(
  context: DeviceContext,
  commitment: DeltaCommitment,
  signal: AbortSignal,
): Promise<ContributionOutcome> {
  const { authority, outside, pins, state } = context;
  const outcome = await authority.outcome(commitment.ctx, signal);
  const ports = { suite: outside.suite, authorityKey: pins.authorityKey };
  const judged = judgeOutcome(ports, commitment, outcome);
  if (judged.kind === 'refused' && judged.reason === 'outcome-invalid') throw new RefusedError('outcome-invalid');
  if (judged.kind === 'included')
    return (await isQuarantined(context, commitment, signal)) ? 'quarantined' : 'included';
  if (judged.kind === 'refused') return outcome.status === 'unknown' ? 'unknown' : 'undecided';
  const held = [...state.ledger.deltas].find(([, given]) => equalBytes(given.joinTag, commitment.joinTag));
  if (held !== undefined) {
    await state.take(releaseDelta(ports, state, fromHex(held[0]) as Uint8Array, outcome));
  }
  return freedBy(outcome);
}

function freedBy({ status }: Outcome): ContributionOutcome {
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
    if (error instanceof UnreachableError || error instanceof ProblemError) return false;
    throw error;
  }
}
