/** Frees an update that was given, only by an outcome that enough authorities state. */
import { toHex } from '@basa/masking';
import { type Refused, refused } from '../wire/refusals.ts';
import { declined, unchanged } from '../wire/transition.ts';
import { type Device, type DeviceStep, recorded } from './device.ts';
import type { Released } from './ledger.ts';
import { agreedShotOutcome, type ShotOutcomeOf, type ShotQuestion } from './one-shot/outcome.ts';

/** Frees an update for another upload if enough authorities declare this one expired. An update that was never given is free. */
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
