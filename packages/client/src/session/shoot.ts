/** Contributes an update: sealed to the authorities' current keys, masked, and sent as one message. */
import { isRefused } from '@basa/protocol';
import { sumRules } from '@basa/protocol/wire';
import type { Contribution, Rejection } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { withCertificate } from './enrol.ts';
import { finishSession, type NewShot } from './finish.ts';
import type { Meter } from './meter.ts';
import { notSeen, quantised, type Update } from './quantised.ts';
import { rejected } from './rejections.ts';

export async function shoot(
  context: DeviceContext,
  update: Update,
  meter: Meter,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  const { models, outside } = context;
  // Before any other request: the time of a training depends on its data.
  const waitMs = models.waitMs(update.trainedOn);
  if (waitMs > 0) await outside.sleep(waitMs, signal);
  return give(context, meter, signal, () => prepare(context, update, signal));
}

/** Prepares a shot, and sends it unless that was not possible. */
export async function give(
  context: DeviceContext,
  meter: Meter,
  signal: AbortSignal,
  prepared: () => Promise<NewShot | Rejection>,
): Promise<Contribution | Rejection> {
  context.events.emit('progress', { step: 'mask' });
  const shot = await meter.measure('mask', prepared);
  return 'given' in shot ? await finishSession(context, meter, signal, shot) : shot;
}

/** Nothing is given away yet: any problem leaves the update free. */
function prepare(context: DeviceContext, update: Update, signal: AbortSignal): Promise<NewShot | Rejection> {
  const { models, outside, policy } = context;
  const { trainedOn } = update;
  return withCertificate(context, signal, async (certificate): Promise<NewShot | Rejection> => {
    const gathered = await models.fresh(signal);
    if (isRefused(gathered)) return rejected(gathered.reason, 'free', gathered);
    if (gathered.statement.version - trainedOn > policy.maxStaleness) return rejected('version-over', 'free');
    const statement = models.statementOf(trainedOn);
    if (statement === undefined) return rejected('model-unknown', 'free', { detail: notSeen(trainedOn) });
    const built = quantised(context, sumRules(policy, statement.version), update);
    if (built.kind === 'refused') return rejected(built.reason, 'free', built);
    const given = { policy, certificate, statement, epochs: gathered.epochs, now: outside.now() };
    return { given, input: built.vector };
  });
}
