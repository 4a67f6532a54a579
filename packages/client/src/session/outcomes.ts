/** The status of an update, signed by its authorities; only that frees an update for another buffer. */
import { equalBytes, fromHex } from '@basa/masking';
import {
  agreedOutcome,
  agreedShotOutcome,
  type DeltaCommitment,
  judgeOutcome,
  type OutcomeBody,
  type OutcomeOf,
  releaseDelta,
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

/** The buffer or upload that has an update. */
type GivenTo = Pick<DeltaCommitment, 'ctx' | 'joinTag'>;

/** Asks, and frees the update if the answer allows it. */
export function askOutcome(
  context: DeviceContext,
  commitment: GivenTo,
  signal: AbortSignal,
): Promise<ContributionOutcome> {
  const ask = context.pins.policy.oneShot === undefined ? askBuffer : askShot;
  return ask(context, commitment, signal);
}

async function askBuffer(
  context: DeviceContext,
  commitment: GivenTo,
  signal: AbortSignal,
): Promise<ContributionOutcome> {
  const { authorities, outside, pins, state } = context;
  const agreed = (answers: readonly OutcomeOf[]): OutcomeBody | undefined =>
    agreedOutcome(outside.suite, pins.policy, commitment.ctx, answers);
  const outcomes = await authorities.outcomes(commitment.ctx, (answers) => agreed(answers) !== undefined, signal);
  const ports = { suite: outside.suite, council: pins.policy };
  const judged = judgeOutcome(ports, commitment, outcomes);
  const status = agreed(outcomes)?.status;
  // With several authorities a mix below the threshold is not a fault: it is not decided yet.
  const isAlone = pins.policy.authorities.length === 1;
  if (judged.kind === 'refused' && judged.reason === 'outcome-invalid') {
    if (isAlone) throw new RefusedError('outcome-invalid');
    return 'undecided';
  }
  if (judged.kind === 'included')
    return (await told(() => context.server.fate(commitment.ctx, commitment.joinTag, signal))) === 'quarantined'
      ? 'quarantined'
      : 'included';
  if (judged.kind === 'refused') return status === 'unknown' ? 'unknown' : 'undecided';
  const held = [...state.ledger.deltas].find(([, given]) => equalBytes(given.joinTag, commitment.joinTag));
  if (held !== undefined) {
    await state.take(releaseDelta(ports, state, fromHex(held[0]) as Uint8Array, outcomes));
  }
  return status === 'aborted' ? 'aborted' : 'excluded';
}

/**
 * Only `expired` frees the update: no authority will ever vote for it. Without the epochs that it names no authority
 * can be asked.
 */
async function askShot(
  context: DeviceContext,
  { ctx, joinTag }: GivenTo,
  signal: AbortSignal,
): Promise<ContributionOutcome> {
  const { authorities, outside, pins, server, state, task } = context;
  const { suite } = outside;
  const [deltaId, commitment] = [...state.ledger.deltas].find(([, one]) => equalBytes(one.joinTag, joinTag)) ?? [];
  if (deltaId === undefined || commitment === undefined) return 'unknown';
  const question = { suite, council: pins.policy, task, user: userIdOf(suite, state.signer.publicKey) };
  const agreed = (answers: readonly ShotOutcomeOf[]): ShotStatus | undefined =>
    agreedShotOutcome(question, commitment, answers);
  const isAgreed = (answers: readonly ShotOutcomeOf[]): boolean => agreed(answers) !== undefined;
  const outcomes = await authorities.shotOutcomes(question, commitment, isAgreed, signal);
  const status = agreed(outcomes);
  if (status === undefined && pins.policy.authorities.length === 1) throw new RefusedError('outcome-invalid');
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
  const { pins, state } = context;
  const of = { version, versions: pins.policy.versions };
  if (versionProblem(state.ledger, of, deltaId) === undefined) return undefined;
  for (const given of [...state.ledger.deltas.values()])
    if (given.version === version) await askOutcome(context, given, signal);
  const problem = versionProblem(state.ledger, of, deltaId);
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
