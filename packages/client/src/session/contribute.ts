/** Offers an update: finishes an interrupted session first, and never gives one update to two batches. */
import { equalBytes, toHex } from '@basa/masking';
import { RefusedError } from '../errors.ts';
import type { Contribution, Rejection } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { finishSession } from './finish.ts';
import { Meter } from './meter.ts';
import { askOutcome, versionRejection } from './outcomes.ts';
import { budgetRejection, tellSpent } from './private-budget.ts';
import type { Update } from './quantised.ts';
import { rejected } from './rejections.ts';
import { shoot } from './shoot.ts';

export async function contribute(
  context: DeviceContext,
  update: Update,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  checkUpdate(update);
  refusePaper(context);
  // A copy: the caller may change its array while this waits for a service.
  const delta = update.delta.slice();
  try {
    return await contributeCopy(context, { ...update, delta }, signal);
  } finally {
    delta.fill(0);
  }
}

async function contributeCopy(
  context: DeviceContext,
  update: Update,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  const deltaId = deltaIdOf(context, update);
  const pending = context.state.session;
  if (pending !== undefined) {
    const ended = await resume(context, signal);
    if (ended?.kind === 'accepted' && equalBytes(pending.member.deltaId, deltaId)) return ended;
    if (ended !== undefined && context.state.session !== undefined) return ended; // the server takes it later
  }
  const no =
    (await heldElsewhere(context, deltaId, signal)) ??
    (await budgetRejection(context, signal)) ??
    (await versionRejection(context, update.trainedOn, signal, deltaId));
  return report(context, no ?? (await shoot(context, update, deltaId, newMeter(context), signal)));
}

/** Continues an interrupted session with the same bytes. Undefined if there is no session. */
export async function resume(
  context: DeviceContext,
  signal: AbortSignal,
): Promise<Contribution | Rejection | undefined> {
  if (context.state.session === undefined) return undefined;
  return report(context, await finishSession(context, newMeter(context), signal));
}

/** An update that the server may have is offered again only after the authority states that it is not in its sum. */
async function heldElsewhere(
  context: DeviceContext,
  deltaId: Uint8Array,
  signal: AbortSignal,
): Promise<Rejection | undefined> {
  const given = context.state.ledger.deltas.get(toHex(deltaId));
  if (given === undefined) return undefined;
  const outcome = await askOutcome(context, given, signal);
  return outcome === 'expired' ? undefined : rejected('delta-committed', 'held', { detail: outcome });
}

/** A device takes part in the mode of the paper only if its application calls it by its name. */
export function refusePaper({ policy }: Pick<DeviceContext, 'policy'>): void {
  if (policy.oneShot === undefined) throw new RefusedError('paper-mode');
}

function checkUpdate({ exampleWeight = 1, trainedOn }: Update): void {
  if (!Number.isSafeInteger(trainedOn) || trainedOn < 0) {
    throw new RangeError(`trainedOn must be the version that model() returned, got ${trainedOn}`);
  }
  if (!(exampleWeight > 0 && exampleWeight <= 1)) {
    throw new RangeError(`exampleWeight must be in (0, 1], got ${exampleWeight}`);
  }
}

/**
 * The content identifies an update: the same numbers offered twice are one update. This does not apply to a training in a private task.
 * There, every sum has its own noise and its own charge, and a device that stays away because it learned nothing new would reveal this.
 */
function deltaIdOf({ outside, policy }: DeviceContext, { delta, training }: Update): Uint8Array {
  const numbers = new Uint8Array(delta.buffer, delta.byteOffset, delta.byteLength);
  const isTraining = policy.privacy !== undefined && training !== undefined;
  return isTraining ? outside.suite.sha256(training, numbers) : outside.suite.sha256(numbers);
}

function newMeter({ authorities, outside, server }: DeviceContext): Meter {
  return new Meter(outside.stopwatch, [server.link, ...authorities.links]);
}

function report<Result extends Contribution | Rejection>(context: DeviceContext, result: Result): Result {
  const { events } = context;
  if (result.kind === 'accepted') events.emit('accepted', result);
  else events.emit('rejected', result);
  tellSpent(context);
  return result;
}
