/** When a task has reached its end (docs/http.md), as a sentence; undefined while it goes on. */

import type { TaskSpecification } from '../specification/task-specification.ts';
import type { StoredModel } from '../store/models.ts';

export function stopReason(
  { accuracy, version, afterMs }: NonNullable<TaskSpecification['stop']>,
  newest: Pick<StoredModel, 'version' | 'accuracy'> | undefined,
  ageMs: number,
): string | undefined {
  if (accuracy !== undefined && newest?.accuracy !== undefined && newest.accuracy >= accuracy)
    return `accuracy ${newest.accuracy.toFixed(4)} reached at version ${newest.version}`;
  if (version !== undefined && newest !== undefined && newest.version >= version)
    return `version ${newest.version} reached`;
  return afterMs !== undefined && ageMs >= afterMs ? `${afterMs} ms are over` : undefined;
}
