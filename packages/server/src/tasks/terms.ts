/** The terms of a task as the server keeps them: shown by anybody, checked link by link, and handed to devices. */
import { equalBytes } from '@basa/masking';
import {
  decodePolicy,
  followLine,
  inTerm,
  isRefused,
  type Line,
  lineCodec,
  type TaskId,
  type TaskPolicy,
  type Term,
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

/**
 * Stores a line of terms that extends the stored line. A shorter line changes nothing. Anybody may show lines, so only the signatures of
 * terms that are new here are checked. Returns true if the stored line is longer now.
 */
export async function keepLine(store: Store, task: TaskId, { policy, terms }: Line): Promise<boolean> {
  if (!equalBytes(taskIdOf(nodeSuite, policy), task))
    fail('malformed', { detail: 'line.policy: not that of the path' });
  const kept = (await lineOf(store, task, policy)).terms;
  const known = alike(kept, terms);
  if (known === terms.length) return false;
  const last = terms.slice(0, known).reduce((before, term) => inTerm(nodeSuite, before, term), policy);
  granted(followLine(nodeSuite, { policy: last, terms: terms.slice(known) }));
  const outcome = { isForked: false, isLonger: false };
  await store.changeNote(lineNote(task), (bytes) => {
    const stored = bytes === undefined ? [] : lineCodec.decode(bytes).terms;
    outcome.isForked = alike(stored, terms) < Math.min(stored.length, terms.length);
    outcome.isLonger = !outcome.isForked && terms.length > stored.length;
    return outcome.isLonger
      ? lineCodec.encode({ policy, terms: [...stored, ...terms.slice(stored.length)] })
      : undefined;
  });
  if (outcome.isForked) fail('term-forked');
  return outcome.isLonger;
}

/** The number of terms at the beginning of two lines that are the same. */
function alike(some: readonly Term[], others: readonly Term[]): number {
  const isOther = (term: Term, n: number): boolean => {
    const other = others[n];
    return other === undefined || !equalBytes(termHashOf(nodeSuite, term), termHashOf(nodeSuite, other));
  };
  const first = some.findIndex(isOther);
  return first < 0 ? some.length : first;
}

/** The policy in the last term that has started at this time. */
export function policyAt(line: Line, now: number): TaskPolicy {
  const policies = followLine(nodeSuite, line);
  if (isRefused(policies)) throw new Error(`the kept terms of a task do not follow each other: ${policies.detail}`);
  return policies[line.terms.filter(({ effective }) => effective <= now).length] as TaskPolicy;
}
