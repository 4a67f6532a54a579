/** The descriptor that a policy, a version of the model and a plan give: they say every word that is signed. */
import type { BufferPlan } from './authority-messages.ts';
import type { Millis, TaskId } from './brands.ts';
import type { DescriptorBody } from './descriptor.ts';
import type { ModelEntry } from './model-log.ts';
import { policyWeightScale, type TaskPolicy } from './policy.ts';

export function plannedDescriptor(
  task: TaskId,
  policy: TaskPolicy,
  { version, modelHash }: Pick<ModelEntry, 'version' | 'modelHash'>,
  { parts, expiry }: BufferPlan,
): DescriptorBody {
  const { name: _, training: __, openMs: ___, closeMs, ...shared } = policy;
  return {
    ...shared,
    parts,
    task,
    version,
    modelHash,
    weightScale: policyWeightScale(policy),
    expiry,
    closeBy: (expiry + closeMs) as Millis,
  };
}
