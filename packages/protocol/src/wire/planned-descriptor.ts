/** The descriptor that a plan and the policy of its task give: whoever knows both knows every word that is signed. */
import type { BufferPlan } from './authority-messages.ts';
import type { Millis, TaskId } from './brands.ts';
import type { DescriptorBody } from './descriptor.ts';
import type { TaskPolicy } from './policy.ts';
import { policyWeightScale } from './policy.ts';

export function plannedDescriptor(
  task: TaskId,
  policy: TaskPolicy,
  { parts, newest, expiry }: BufferPlan,
): DescriptorBody {
  const { name: _, training: __, openMs: ___, closeMs, ...shared } = policy;
  return {
    ...shared,
    parts,
    task,
    version: newest.version,
    modelHash: newest.modelHash,
    weightScale: policyWeightScale(policy),
    expiry,
    closeBy: (expiry + closeMs) as Millis,
  };
}
