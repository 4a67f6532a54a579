/** What a user checks before it deposits anything: the buffer is the one its pinned policy allows. */
import type { Suite } from '@basa/masking';
import { equalBytes } from '@basa/masking';
import type { Ctx, Millis } from '../wire/brands.ts';
import type { DrawnBuffer } from '../wire/drawn-buffer.ts';
import { slotKeysProblem } from '../wire/drawn-buffer.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { policyWeightScale, taskIdOf } from '../wire/policy.ts';
import type { Refused } from '../wire/refusals.ts';
import { refused } from '../wire/refusals.ts';
import type { Descriptor, ModelEntry } from '../wire/statements.ts';
import { ctxOf, descriptorCodec, isSigned, modelEntryCodec } from '../wire/statements.ts';

/** What a client was told out of band and believes over any server. */
export interface Pins {
  readonly policy: TaskPolicy;
  readonly authorityKey: Uint8Array;
}

declare const isChecked: unique symbol;
/** A descriptor that follows the pinned policy, by the pinned authority. */
export type CheckedDescriptor = Descriptor & { readonly [isChecked]: true };

export type Seated =
  | {
      readonly kind: 'seated';
      readonly ctx: Ctx;
      readonly descriptor: CheckedDescriptor;
      readonly slotKeys: Uint8Array;
    }
  | Refused;

export function checkDrawnBuffer(
  suite: Suite,
  { policy, authorityKey }: Pins,
  { descriptor, slotKeys }: DrawnBuffer,
  now: Millis,
): Seated {
  const isAuthoritys =
    isSigned(suite, descriptorCodec, descriptor, authorityKey) &&
    equalBytes(descriptor.authorityKeyId, suite.sha256(authorityKey));
  if (!isAuthoritys) return refused('descriptor-invalid');
  if (!followsPolicy(suite, policy, descriptor)) return refused('descriptor-policy');
  if (now >= descriptor.expiry) return refused('buffer-not-open');
  const problem = slotKeysProblem(suite, descriptor, slotKeys);
  if (problem !== undefined) return problem;
  return { kind: 'seated', ctx: ctxOf(suite, descriptor), descriptor: descriptor as CheckedDescriptor, slotKeys };
}

/**
 * Every line of the policy that a descriptor repeats, but that the minimum may be higher than the pinned floor. What it
 * does not repeat comes from the pinned policy alone.
 */
function followsPolicy(suite: Suite, policy: TaskPolicy, descriptor: Descriptor): boolean {
  const { name, training, openMs, closeMs, minimum } = policy;
  const claimed: TaskPolicy = { ...descriptor, name, training, openMs, closeMs, minimum };
  const task = taskIdOf(suite, policy);
  return (
    equalBytes(taskIdOf(suite, claimed), task) &&
    equalBytes(descriptor.task, task) &&
    descriptor.minimum >= minimum &&
    descriptor.minimum <= descriptor.bufferSize &&
    descriptor.weightScale === policyWeightScale(policy)
  );
}

/**
 * A user trains only on a model of the authority's log, one hash per version. The version is tau: it comes from the log,
 * never from the server. Undefined where the model is not the logged one.
 */
export function loggedVersion(
  suite: Suite,
  { policy, authorityKey }: Pins,
  entry: ModelEntry,
  modelHash: Uint8Array,
): number | undefined {
  const isLogged =
    isSigned(suite, modelEntryCodec, entry, authorityKey) &&
    equalBytes(entry.task, taskIdOf(suite, policy)) &&
    equalBytes(entry.modelHash, modelHash);
  return isLogged ? entry.version : undefined;
}
