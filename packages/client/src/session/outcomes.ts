/** The status of an update, signed by its authorities; only that frees an update to be offered again. */
import { equalBytes, fromHex } from '@basa/masking';
import {
  agreedShotOutcome,
  type DeltaCommitment,
  releaseShot,
  type ShotOutcomeOf,
  type ShotStatus,
  userIdOf,
  versionProblem,
} from '@basa/protocol';
import { isOfService, RefusedError } from '../errors.ts';
import type { ContributionOutcome, Rejection } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { rejected } from './rejections.ts';

/**
 * Asks, and frees the update if the answer is `expired`: no authority will ever vote for it. Without the epochs that it names no authority
 * can be asked.
 */
export async function askOutcome(
  context: DeviceContext,
  { ctx, joinTag }: Pick<DeltaCommitment, 'ctx' | 'joinTag'>,
  signal: AbortSignal,
): Promise<ContributionOutcome> {
  const { authorities, outside, policy, server, state, task } = context;
  const { suite } = outside;
  const [deltaId, commitment] = [...state.ledger.deltas].find(([, one]) => equalBytes(one.joinTag, joinTag)) ?? [];
  if (deltaId === undefined || commitment === undefined) return 'unknown';
  const question = { suite, council: policy, task, user: userIdOf(suite, state.signer.publicKey) };
  const agreed = (answers: readonly ShotOutcomeOf[]): ShotStatus | undefined =>
    agreedShotOutcome(question, commitment, answers);
  const isAgreed = (answers: readonly ShotOutcomeOf[]): boolean => agreed(answers) !== undefined;
  const outcomes = await authorities.shotOutcomes(question, commitment, isAgreed, signal);
  const status = agreed(outcomes);
  if (status === undefined && policy.authorities.length === 1) throw new RefusedError('outcome-invalid');
  if (status === 'unknown') return 'unknown';
  if (status === 'expired') {
    await state.take(releaseShot(question, state, fromHex(deltaId) as Uint8Array, outcomes));
    return 'expired';
  }
  const fate = await told(() => server.shotFate(task, ctx, signal));
  if (status === 'included') return fate === 'quarantined' ? 'quarantined' : 'included';
  return fate === 'refused' || fate === 'version-over' ? 'discarded' : 'undecided';
}

/**
 * Returns the reason why no other update may be given on this version: the device already gave one, and no outcome
 * frees it. Training is nearly deterministic, so two sums over overlapping groups on one model would reveal more than
 * sums (attack P1).
 */
export async function versionRejection(
  context: DeviceContext,
  version: number,
  signal: AbortSignal,
  deltaId?: Uint8Array,
): Promise<Rejection | undefined> {
  const { state } = context;
  if (versionProblem(state.ledger, version, deltaId) === undefined) return undefined;
  for (const given of [...state.ledger.deltas.values()])
    if (given.version === version) await askOutcome(context, given, signal);
  const problem = versionProblem(state.ledger, version, deltaId);
  return problem && rejected(problem.reason, 'free', problem);
}

/** Returns the server's statement, if it has one: it frees nothing. */
async function told<Fate>(fate: () => Promise<Fate>): Promise<Fate | undefined> {
  try {
    return await fate();
  } catch (error) {
    if (isOfService(error)) return undefined;
    throw error;
  }
}
