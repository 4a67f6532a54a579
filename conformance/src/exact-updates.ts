/** Updates whose quantised form does not depend on chance: every entry is a whole number of steps, so that sums are exact. */
import type { TaskPolicy } from '@basa/protocol/policy';

/** Steps to the unit; divides every level that tests use. */
const GRAIN = 8;

/** The update of participant n. One entry lies beyond the clip of 1, and must be clipped. */
export function updateOf(participant: number, { dimension }: Pick<TaskPolicy, 'dimension'>): Float32Array {
  return Float32Array.from({ length: dimension }, (_, k) =>
    k === participant ? 3 : (((k + 5 * participant) % 13) - 6) / GRAIN,
  );
}

/**
 * Returns the first place at which a model, after zeros and one sum of these participants, is not minus their mean;
 * undefined if there is none.
 */
export function firstDifference(
  model: Float32Array,
  participants: readonly number[],
  policy: Pick<TaskPolicy, 'dimension' | 'clip'>,
): string | undefined {
  const updates = participants.map((participant) => updateOf(participant, policy));
  const clipped = (value: number): number => Math.max(-policy.clip, Math.min(policy.clip, value));
  if (model.length !== policy.dimension) return `${model.length} parameters instead of ${policy.dimension}`;
  for (const [k, value] of model.entries()) {
    const sum = updates.reduce((total, update) => total + clipped(update[k] as number), 0);
    const got = -value * participants.length;
    if (Math.abs(got - sum) > 1 / (2 * GRAIN)) return `${got} instead of ${sum} at ${k}`;
  }
  return undefined;
}
