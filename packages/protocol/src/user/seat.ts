/** A user's checks before it deposits anything: its pinned policy must allow the buffer. */
import { equalBytes, type Suite } from '@basa/masking';
import type { Ctx, Millis } from '../wire/brands.ts';
import { isEndorsed } from '../wire/council.ts';
import { ctxOf, type Descriptor, descriptorCodec, type SignedDescriptor, withPolicy } from '../wire/descriptor.ts';
import { type DrawnBuffer, slotKeysProblem } from '../wire/drawn-buffer.ts';
import { type TaskPolicy, taskIdOf } from '../wire/policy.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import type { SeenModel } from './ledger.ts';
import type { Pins } from './logged-model.ts';

declare const isChecked: unique symbol;
/** A descriptor that names the pinned policy, by its authorities, with that policy. */
export type CheckedDescriptor = Descriptor & { readonly [isChecked]: true };

export type Seated =
  | {
      readonly kind: 'seated';
      readonly ctx: Ctx;
      readonly descriptor: CheckedDescriptor;
      readonly slotKeys: Uint8Array;
    }
  | Refused;

/**
 * `trainedOn` is the model on which the update was trained. With one version per buffer, the buffer must be for that
 * model: a server that mixes versions gives all but one device a model on which updates vanish, and reads the update of
 * that one (attack O1).
 */
export function checkDrawnBuffer(
  suite: Suite,
  { policy }: Pins,
  { descriptor: signed, slotKeys }: DrawnBuffer,
  now: Millis,
  trainedOn: SeenModel,
): Seated {
  if (!isDrawn(suite, policy, signed)) return refused('descriptor-invalid');
  if (!equalBytes(signed.task, taskIdOf(suite, policy))) return refused('descriptor-policy');
  const descriptor = withPolicy(policy, signed);
  if (policy.versions === 'one' && !isSameModel(descriptor, trainedOn)) return refused('descriptor-version');
  if (now >= descriptor.expiry) return refused('buffer-not-open');
  const problem = slotKeysProblem(suite, descriptor, slotKeys);
  if (problem !== undefined) return problem;
  return { kind: 'seated', ctx: ctxOf(suite, descriptor), descriptor: descriptor as CheckedDescriptor, slotKeys };
}

/** By its hash, not only by its number: a log that was lost and written again may have another model under the same number. */
function isSameModel(one: SeenModel, other: SeenModel): boolean {
  return one.version === other.version && equalBytes(one.modelHash, other.modelHash);
}

/**
 * Enough authorities must have a part in the buffer, and each of them must have signed it. Otherwise the server could invent a part, and
 * would then hold a share of every key.
 */
export function isDrawn(suite: Suite, policy: TaskPolicy, descriptor: SignedDescriptor): boolean {
  const { parts, endorsements } = descriptor;
  return (
    isEndorsed(suite, descriptorCodec, policy, descriptor) &&
    parts.length === endorsements.length &&
    parts.every(({ authority }, n) => authority === endorsements[n]?.authority)
  );
}
