/** What became of an update, by the signed word of its authorities; it alone frees one for another buffer. */
import { equalBytes, fromHex } from '@basa/masking';
import {
  agreedOutcome,
  type DeltaCommitment,
  judgeOutcome,
  type OutcomeBody,
  type OutcomeOf,
  releaseDelta,
  versionProblem,
} from '@basa/protocol';
import { isOfService, RefusedError } from '../errors.ts';
import type { ContributionOutcome, Rejection } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { rejected } from './rejections.ts';

/** Asks, and frees the update where the answer allows it. */
export async function askOutcome(
  context: DeviceContext,
  commitment: Omit<DeltaCommitment, 'version'>,
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

/**
 * Why no other update may be given on this version: the device gave one already, and no outcome frees it. Training is nearly deterministic, so
 * two sums over overlapping groups on one model would tell more than sums (attack P1).
 */
export async function versionRejection(
  context: DeviceContext,
  version: number,
  signal: AbortSignal,
  deltaId?: Uint8Array,
): Promise<Rejection | undefined> {
  const { pins, state } = context;
  const of = { version, versions: pins.policy.versions };
  if (versionProblem(state.ledger, of, deltaId) === undefined) return undefined;
  for (const given of [...state.ledger.deltas.values()])
    if (given.version === version) await askOutcome(context, given, signal);
  const problem = versionProblem(state.ledger, of, deltaId);
  return problem && rejected(problem.reason, 'free', problem);
}

/** The server's word, which frees nothing: the sum it is in was not applied. */
async function isQuarantined(
  { server }: DeviceContext,
  { ctx, joinTag }: Omit<DeltaCommitment, 'version'>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (await server.fate(ctx, joinTag, signal)) === 'quarantined';
  } catch (error) {
    if (isOfService(error)) return false;
    throw error;
  }
}
