/** The terms of a task as the server keeps them: shown by anybody, checked link by link, and handed to devices. */
import { equalBytes, toHex } from '@basa/masking';
import {
  decodePolicy,
  followLine,
  isRefused,
  type Line,
  lineCodec,
  type TaskId,
  type TaskPolicy,
  taskIdOf,
  termHashOf,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { fail, granted } from '@basa/service';
import type { Store } from '../store/store.ts';
import { lineNote } from '../store/tasks.ts';

/** The policy in its first term, which the specification of the task has. */
export function firstPolicy(specification: { readonly policy: string }): TaskPolicy {
  return decodePolicy(Buffer.from(specification.policy, 'hex'));
}

/** Without terms if no term was ever shown. */
export async function lineOf(store: Store, task: TaskId, policy: TaskPolicy): Promise<Line> {
  const bytes = await store.note(lineNote(task));
  return bytes === undefined ? { policy, terms: [] } : lineCodec.decode(bytes);
}

/** Stores a line of terms that extends the stored line. A shorter line changes nothing. */
export async function keepLine(store: Store, task: TaskId, shown: Line): Promise<void> {
  if (!equalBytes(taskIdOf(nodeSuite, shown.policy), task))
    fail('malformed', { detail: 'line.policy: not that of the path' });
  granted(followLine(nodeSuite, shown));
  let isForked = false;
  await store.changeNote(lineNote(task), (bytes) => {
    const known = bytes === undefined ? [] : lineCodec.decode(bytes).terms;
    isForked = known.some((term, n) => {
      const other = shown.terms[n];
      return other !== undefined && toHex(termHashOf(nodeSuite, other)) !== toHex(termHashOf(nodeSuite, term));
    });
    return isForked || shown.terms.length <= known.length ? undefined : lineCodec.encode(shown);
  });
  if (isForked) fail('term-forked');
}

/** The policy in the last term that has started at this time. */
export function policyAt(line: Line, now: number): TaskPolicy {
  const policies = followLine(nodeSuite, line);
  if (isRefused(policies)) throw new Error(`the kept terms of a task do not follow each other: ${policies.detail}`);
  return policies[line.terms.filter(({ effective }) => effective <= now).length] as TaskPolicy;
}
