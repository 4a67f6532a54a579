/**
 * Succession at an authority: it signs at most one successor for each term, adopts a term that enough seats signed, and
 * begins it at its time. An honest authority is in one term at a time and never goes back: so no two terms can both
 * have enough signatures for one thing.
 */
import { equalBytes, type Suite } from '@basa/masking';
import type { Millis, TaskId } from '../wire/brands.ts';
import { indexOf } from '../wire/council.ts';
import { type TaskPolicy, taskIdOf } from '../wire/policy.ts';
import { policyProblem } from '../wire/policy-problem.ts';
import { isRefused, refused } from '../wire/refusals.ts';
import {
  acceptTerm,
  addressProblem,
  earliestTerm,
  endorseTerm,
  followLine,
  inTerm,
  isAccepted,
  type Line,
  nextTermProblem,
  SERVER_SEAT,
  type Term,
  termHashOf,
  termNumber,
  termProblem,
} from '../wire/term.ts';
import { declined, type Transition, unchanged } from '../wire/transition.ts';
import type { AuthorityBuffer, AuthorityPorts } from './buffer.ts';
import type { EpochBook, LiveEpoch } from './one-shot/epoch-book.ts';
import { deadEpochs } from './one-shot/epochs.ts';
import type { AuthorityRecord } from './records.ts';
import type { AuthorityTask } from './task.ts';

type TermRecord = Extract<AuthorityRecord, { kind: 'term-signed' | 'term-adopted' | 'term-begun' }>;

/** The task after a record about its terms. */
export function evolveTerm(suite: Suite, task: AuthorityTask, entry: TermRecord): AuthorityTask {
  if (entry.kind === 'term-signed') return { ...task, successor: { number: entry.number, hash: entry.hash } };
  if (entry.kind === 'term-adopted') return { ...task, next: entry.term };
  // An entry that too few signed in the term before counts for nothing in this one.
  const { next, signed: _signed, repeatable: _repeatable, ...rest } = task;
  if (next === undefined) return task;
  return { ...rest, policy: inTerm(suite, task.policy, next), terms: [...task.terms, next] };
}

/** True if this authority has a seat in the current term of the task. */
export function isSeated({ signer }: Pick<AuthorityPorts, 'signer'>, policy: TaskPolicy): boolean {
  return indexOf(policy, signer.publicKey) !== undefined;
}

/** The owner of the new key, which is this authority, takes the seat. The key of an authority is never one of a server. */
export function acceptSeat({ suite, signer }: AuthorityPorts, term: Term): Transition<undefined, never, Term> {
  if (term.seat === SERVER_SEAT)
    return declined(
      undefined,
      refused('term-invalid', { detail: 'the key of an authority is never that of a server' }),
    );
  const problem = addressProblem(term);
  if (problem !== undefined) return declined(undefined, problem);
  return unchanged(undefined, { ...term, accepted: acceptTerm(suite, signer, term) });
}

/** Signs the first successor that its operator shows for this term, and no other. This is recorded before the signature is sent. */
export function signTerm(
  ports: AuthorityPorts,
  task: AuthorityTask,
  term: Term,
  now: Millis,
): Transition<AuthorityTask, AuthorityRecord, Term> {
  const { suite, signer } = ports;
  const { policy, successor, next } = task;
  const own = indexOf(policy, signer.publicKey);
  if (own === undefined) return declined(task, refused('no-seat'));
  const problem = nextTermProblem(suite, policy, term);
  if (problem !== undefined) return declined(task, problem);
  if (own === term.seat && term.last === undefined)
    return declined(task, refused('term-invalid', { detail: `seat ${own} is not lost: this authority holds it` }));
  const hash = termHashOf(suite, term);
  const bound = next === undefined ? successor : { number: next.number, hash: termHashOf(suite, next) };
  const isBound = bound?.number === term.number;
  if (isBound && !equalBytes(bound.hash, hash)) return declined(task, refused('term-signed'));
  const answer = endorseTerm(policy, signer, term);
  if (isBound) return unchanged(task, answer);
  const earliest = earliestTerm(policy, now);
  if (term.effective < earliest)
    return declined(task, refused('term-soon', { detail: `it is ${now} here, so ${earliest} is the earliest` }));
  const entry = { kind: 'term-signed', task: task.id, number: term.number, hash } as const;
  return { state: evolveTerm(suite, task, entry), records: [entry], answer, events: [] };
}

/** A party shows terms that enough seats signed: the next one begins here at its time. A line that contradicts a known term is refused. */
export function adoptLine(
  { suite }: AuthorityPorts,
  task: AuthorityTask,
  line: Line,
): Transition<AuthorityTask, AuthorityRecord, { readonly task: TaskId }> {
  const isOther = (known: Term | undefined, n: number): boolean => {
    const shown = line.terms[n];
    return (
      known !== undefined && shown !== undefined && !equalBytes(termHashOf(suite, shown), termHashOf(suite, known))
    );
  };
  const other = [...task.terms, task.next].findIndex(isOther);
  if (other >= 0) return declined(task, refused('term-signed', { detail: `term ${other + 1} is another one here` }));
  const adopted = { task: task.id };
  const term = line.terms[task.terms.length];
  if (term === undefined || task.next !== undefined) return unchanged(task, adopted);
  const problem = termProblem(suite, task.policy, term);
  if (problem !== undefined) return declined(task, problem);
  const entry = { kind: 'term-adopted', term } as const;
  return { state: evolveTerm(suite, task, entry), records: [entry], answer: adopted, events: [] };
}

/**
 * A successor learns about its task from the list of terms. It has no log of the task. Like a restored authority, it does not know the
 * buffers of its predecessor.
 */
export function joinTask(
  { suite, signer }: AuthorityPorts,
  line: Line,
  now: Millis,
): Transition<undefined, AuthorityRecord, { readonly task: TaskId }> {
  // Its operator accepted a seat: a policy that only names its key is created by the operator. This comes first, because anybody may show a
  // line, with a policy and a thousand signatures of their own choice.
  const task = taskIdOf(suite, line.policy);
  const own = line.terms.find(({ key }) => equalBytes(key, signer.publicKey));
  if (own === undefined) return declined(undefined, refused('no-seat'));
  if (!equalBytes(own.task, task) || !isAccepted(suite, own))
    return declined(undefined, refused('term-invalid', { detail: 'this authority did not accept its seat' }));
  const problem = policyProblem(line.policy);
  if (problem !== undefined) return declined(undefined, refused('policy-invalid', { detail: problem }));
  const policies = followLine(suite, line);
  if (isRefused(policies)) return declined(undefined, policies);
  const isBegun = ({ effective }: Term): boolean => effective <= now;
  // At most one term waits for its time; the one after it is adopted when that one has begun.
  const terms = line.terms
    .slice(0, line.terms.filter(isBegun).length + 1)
    .flatMap((term): AuthorityRecord[] => [
      { kind: 'term-adopted', term },
      ...(isBegun(term) ? [{ kind: 'term-begun' as const, task, number: term.number }] : []),
    ]);
  const records: AuthorityRecord[] = [{ kind: 'task-created', policy: line.policy }, ...terms];
  return { state: undefined, records, answer: { task }, events: [] };
}

/** Everything that is open in a task whose next term begins now. */
export interface OpenIn {
  readonly buffers: readonly AuthorityBuffer[];
  readonly epochs: EpochBook;
}

/** Gives up everything that is open and starts the next term. After that, no key, vote or release of the previous term is possible. */
export function beginDueTerm(task: AuthorityTask, open: OpenIn, now: Millis): readonly AuthorityRecord[] {
  const { next, id } = task;
  if (next === undefined || now < next.effective) return [];
  const isOwn = ({ epoch }: LiveEpoch): boolean => equalBytes(epoch.task, id);
  const buffers = open.buffers.filter(({ descriptor }) => equalBytes(descriptor.task, id));
  return [
    ...buffers.map(({ ctx }): AuthorityRecord => ({ kind: 'buffer-unknown', ctx })),
    ...deadEpochs(open.epochs, open.epochs.all.filter(isOwn), now),
    { kind: 'term-begun', task: id, number: termNumber(task.policy) + 1 },
  ];
}
