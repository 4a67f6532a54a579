/** The reason why a task has reached its end (docs/http.md), as a sentence; undefined while it continues. */

import { SCORES, type Scores } from '@basa/protocol';
import type { TaskSpecification } from '../specification/task-specification.ts';
import type { StoredModel } from '../store/models.ts';

export function stopReason(
  { version, afterMs, ...wanted }: NonNullable<TaskSpecification['stop']>,
  newest: Pick<StoredModel, 'version' | keyof Scores> | undefined,
  ageMs: number,
): string | undefined {
  for (const name of SCORES) {
    const [goal, value] = [wanted[name], newest?.[name]];
    if (goal !== undefined && value !== undefined && value >= goal)
      return `${name} ${value.toFixed(4)} reached at version ${newest?.version}`;
  }
  if (version !== undefined && newest !== undefined && newest.version >= version)
    return `version ${newest.version} reached`;
  return afterMs !== undefined && ageMs >= afterMs ? `the time limit of ${afterMs} ms is over` : undefined;
}
