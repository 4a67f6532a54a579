/** Offers an update: finishes an interrupted session first, and gives one update for each version. */
import { intervalProblem, restMs, versionProblem } from '@basa/protocol/one-shot';
import { CLIPPED } from '@basa/protocol/policy';
import { RefusedError, SettingsError } from '../errors.ts';
import type { Contribution, Rejection } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { finishSession } from './finish.ts';
import { Meter } from './meter.ts';
import { budgetRejection, tellSpent } from './private-budget.ts';
import type { Update } from './quantised.ts';
import { rejected } from './rejections.ts';
import { shoot } from './shoot.ts';

export async function contribute(
  context: DeviceContext,
  update: Update,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  checkUpdate(context, update);
  checkTrains(context);
  // A copy: the caller may change its array while this waits for a service.
  const delta = update.delta.slice();
  try {
    return await contributeCopy(context, { ...update, delta }, signal);
  } finally {
    delta.fill(0);
  }
}

function contributeCopy(
  context: DeviceContext,
  update: Update,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  return offer(context, update.trainedOn, signal, {
    rejection: () => trainingRejection(context) ?? versionRejection(context, update.trainedOn),
    give: (meter) => shoot(context, update, meter, signal),
  });
}

interface Offered {
  /** The reason why nothing may be given now. */
  rejection(): Rejection | undefined;
  give(meter: Meter): Promise<Contribution | Rejection>;
}

/** Finishes an interrupted session first. `version` is that of the model, or the number of the window. */
export async function offer(
  context: DeviceContext,
  version: number,
  signal: AbortSignal,
  { rejection, give }: Offered,
): Promise<Contribution | Rejection> {
  const pending = context.state.session;
  if (pending !== undefined) {
    const ended = await resume(context, signal);
    // The update of this version was given, and it counts; the same call after an interruption offers it again.
    if (ended?.kind === 'accepted' && pending.version === version) return ended;
    if (ended !== undefined && context.state.session !== undefined) return ended; // the server takes it later
  }
  return told(context, rejection() ?? (await give(newMeter(context))));
}

/** Continues an interrupted session with the same bytes. Undefined if there is no session. */
export async function resume(
  context: DeviceContext,
  signal: AbortSignal,
): Promise<Contribution | Rejection | undefined> {
  if (context.state.session === undefined) return undefined;
  return told(context, await finishSession(context, newMeter(context), signal));
}

/** Before a device trains: its privacy budget is spent, or it gave a moment ago. */
export function trainingRejection(context: DeviceContext): Rejection | undefined {
  const { outside, policy, state } = context;
  const now = outside.now();
  const early = intervalProblem(state.ledger, policy, now);
  return (
    budgetRejection(context) ??
    (early && rejected(early.reason, 'free', { ...early, retryAfterMs: restMs(state.ledger, policy, now) }))
  );
}

/** Returns the reason why no update may be given on this version: the device gave one on it, or on a newer one. */
export function versionRejection({ models, state }: DeviceContext, version: number): Rejection | undefined {
  const statement = models.statementOf(version);
  const problem = statement && versionProblem(state.ledger, statement);
  return problem && rejected(problem.reason, 'free', problem);
}

/** A device takes part in the mode of the paper only if its application calls it by its name, and nobody trains for statistics. */
export function checkTrains({ policy }: Pick<DeviceContext, 'policy'>): void {
  if (policy.oneShot === undefined) throw new RefusedError('paper-mode');
  if (policy.statistics !== undefined) throw new SettingsError('this task has no model to train; call report()');
}

/** Errors of the caller. None of them depends on the numbers of an update. */
function checkUpdate({ policy }: DeviceContext, { exampleWeight = 1, metrics = {}, trainedOn }: Update): void {
  const missing = policy.metrics.filter(({ name }) => name !== CLIPPED.name && !Object.hasOwn(metrics, name));
  if (missing.length > 0)
    throw new RangeError(`metrics must have a number for ${missing.map(({ name }) => name).join(', ')}`);
  if (!Number.isSafeInteger(trainedOn) || trainedOn < 0) {
    throw new RangeError(`trainedOn must be the version that model() returned, got ${trainedOn}`);
  }
  if (!(exampleWeight > 0 && exampleWeight <= 1)) {
    throw new RangeError(`exampleWeight must be in (0, 1], got ${exampleWeight}`);
  }
}

function newMeter({ authorities, outside, server }: DeviceContext): Meter {
  return new Meter(outside.stopwatch, [server.link, ...authorities.links]);
}

function told<Result extends Contribution | Rejection>(context: DeviceContext, result: Result): Result {
  const { events } = context;
  if (result.kind === 'accepted') events.emit('accepted', result);
  else events.emit('rejected', result);
  tellSpent(context);
  return result;
}
