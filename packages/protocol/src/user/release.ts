/** Frees an update that was given to a buffer, only by an outcome that enough authorities state. */
import { toHex } from '@basa/masking';
import type { OutcomeOf } from '../wire/outcome.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { declined, unchanged } from '../wire/transition.ts';
import { type Device, type DeviceStep, recorded } from './device.ts';
import { judgeOutcome, type OutcomePorts, type Released } from './ledger.ts';
import { agreedShotOutcome, type ShotOutcomeOf, type ShotQuestion } from './one-shot/outcome.ts';
import type { UserPorts } from './session.ts';

/** Frees an update for another buffer if the outcome allows it. An update that was never given is free. */
export function releaseDelta(
  ports: OutcomePorts,
  device: Device,
  deltaId: Uint8Array,
  outcomes: readonly OutcomeOf[],
): DeviceStep<Exclude<Released, Refused>> {
  const commitment = device.ledger.deltas.get(toHex(deltaId));
  if (commitment === undefined) return unchanged(device, { kind: 'free' });
  const released = judgeOutcome(ports, commitment, outcomes);
  if (released.kind === 'refused')
    return declined(device, released, [{ kind: 'refused', by: 'user', step: 'outcome', reason: released.reason }]);
  if (released.kind === 'included') return unchanged(device, released);
  return recorded(ports.suite, device, [{ kind: 'freed', deltaId }], released);
}

/** The same for an update that was given in one shot: enough authorities must declare it expired. */
export function releaseShot(
  question: ShotQuestion,
  device: Device,
  deltaId: Uint8Array,
  outcomes: readonly ShotOutcomeOf[],
): DeviceStep<Exclude<Released, Refused>> {
  const commitment = device.ledger.deltas.get(toHex(deltaId));
  if (commitment === undefined) return unchanged(device, { kind: 'free' });
  const status = agreedShotOutcome(question, commitment, outcomes);
  if (status === 'included') return unchanged(device, { kind: 'included' });
  if (status === 'expired') return recorded(question.suite, device, [{ kind: 'freed', deltaId }], { kind: 'free' });
  return declined(device, refused('outcome-undecided'));
}

/** The update is free for another buffer (`releaseDelta`): the session is over; wipe it once this is recorded. */
export function releaseSession(ports: UserPorts, device: Device): DeviceStep<{ readonly kind: 'released' }> {
  const step = device.session?.step;
  if (step === 'released') return unchanged(device, { kind: 'released' });
  if (step !== 'frozen' && step !== 'shot' && step !== 'acknowledged') return declined(device, refused('wrong-step'));
  return recorded(ports.suite, device, [{ kind: 'released' }], { kind: 'released' });
}
