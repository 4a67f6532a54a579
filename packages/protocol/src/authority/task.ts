/** A task at the authority: its policy. */
import type { TaskId } from '../wire/brands.ts';
import { indexOf } from '../wire/council.ts';
import { type TaskPolicy, taskIdOf } from '../wire/policy.ts';
import { policyProblem } from '../wire/policy-problem.ts';
import { refused } from '../wire/refusals.ts';
import { declined, type Transition } from '../wire/transition.ts';
import type { AuthorityPorts } from './ports.ts';
import type { AuthorityRecord } from './records.ts';

export interface AuthorityTask {
  readonly id: TaskId;
  readonly policy: TaskPolicy;
}

/** An authority answers only for tasks that name it. Rejects a policy whose sums could wrap, or that no batch can satisfy. */
export function createTask(
  { suite, signer }: AuthorityPorts,
  policy: TaskPolicy,
): Transition<AuthorityTask | undefined, AuthorityRecord, { readonly task: TaskId }> {
  const isMember = indexOf(policy, signer.publicKey) !== undefined;
  const problem = policyProblem(policy) ?? (isMember ? undefined : 'the policy does not name this authority');
  if (problem !== undefined) return declined(undefined, refused('policy-invalid', { detail: problem }));
  const id = taskIdOf(suite, policy);
  return {
    state: { id, policy },
    records: [{ kind: 'task-created', policy }],
    answer: { task: id },
    events: [],
  };
}
