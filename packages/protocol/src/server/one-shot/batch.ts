/** A batch of whole uploads at the server: a sum that begins at `frozen`. */
import type { Ctx, UserId } from '../../wire/brands.ts';
import type { Batch } from '../../wire/one-shot/batch.ts';
import type { TaskPolicy } from '../../wire/policy.ts';
import { refused } from '../../wire/refusals.ts';
import { sumRules } from '../../wire/sum-rules.ts';
import { declined, unchanged } from '../../wire/transition.ts';
import { decided, isGranted, type SumState, type SumStep } from '../sum-state.ts';

/** The durable part of a batch before any authority is asked about it. */
export interface StoredBatch {
  /** Its name. It cannot be computed later, because a batch that is dissolved loses its uploads. */
  readonly ctx: Ctx;
  readonly batch: Batch;
  /** The version that its uploads were trained on; their mean if they mix versions. */
  readonly version: number;
  /** In the order of its uploads. */
  readonly users: readonly UserId[];
}

export interface ShotBatch extends SumState {
  readonly batch: Batch;
}

export function openShotBatch(policy: TaskPolicy, { ctx, batch, version, users }: StoredBatch): ShotBatch {
  const rules = sumRules(policy, version);
  return { ctx, task: batch.task, rules, status: 'frozen', users, votes: [], batch };
}

/** `aborted`: no authority voted for it, so its uploads may go into another one. `unknown`: it can never be released any more. */
export function loseBatch(
  batch: ShotBatch,
  how: 'aborted' | 'unknown',
): SumStep<ShotBatch, { readonly kind: 'aborted' | 'unknown' }> {
  const { status, ctx } = batch;
  if (status === 'aborted' || status === 'unknown') return unchanged(batch, { kind: status });
  const isOpen = status === 'frozen' || (isGranted(batch) && how === 'unknown');
  if (!isOpen) return declined(batch, refused('already-decided'));
  return how === 'aborted'
    ? decided(batch, { kind: 'aborted' }, [{ kind: 'buffer-aborted', ctx }])
    : decided(batch, { kind: 'unknown' }, [{ kind: 'buffer-unknown', ctx }]);
}
