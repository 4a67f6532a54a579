/** A task at the authority: its policy and the append-only log of its models. */
import { equalBytes, type Suite, toHex } from '@basa/masking';
import { type ModelAppend, modelAppendCodec } from '../wire/authority-messages.ts';
import type { TaskId } from '../wire/brands.ts';
import { endorse, indexOf, isEndorsed } from '../wire/council.ts';
import { type ModelEntry, type ModelEntryBody, modelEntryCodec } from '../wire/model-log.ts';
import { type TaskPolicy, taskIdOf } from '../wire/policy.ts';
import { policyProblem } from '../wire/policy-problem.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { isSigned } from '../wire/signed.ts';
import { declined, type Transition, unchanged } from '../wire/transition.ts';
import type { AuthorityPorts } from './ports.ts';
import type { AuthorityRecord } from './records.ts';

export interface AuthorityTask {
  readonly id: TaskId;
  readonly policy: TaskPolicy;
  /** The last entry of its model log, signed by enough authorities; missing before version 0. */
  readonly newest?: ModelEntry;
  /** The entry that this authority signed for the next version, before enough others did. */
  readonly signed?: ModelEntry;
  /**
   * The version after which one may come without sums, at the only authority of the task: the newest when the current branch of the log
   * began. Missing while the log was never rolled back.
   */
  readonly repeatable?: number;
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

/**
 * The entry must be signed by enough authorities, and must not be older than the one known here. The only authority knows every entry: one
 * beyond its log belongs to a lost life of the log, or a thief of its key signed it.
 */
function newestProblem(suite: Suite, { id, policy, newest }: AuthorityTask, entry: ModelEntry): Refused | undefined {
  if (!equalBytes(entry.task, id) || !isEndorsed(suite, modelEntryCodec, policy, entry))
    return refused('model-not-logged');
  if (newest === undefined || entry.version > newest.version)
    return policy.threshold > 1 ? undefined : refused('model-not-logged', { detail: `version ${entry.version}` });
  if (entry.version < newest.version)
    return refused('wrong-version', { detail: `version ${newest.version} is the newest here` });
  return equalBytes(entry.modelHash, newest.modelHash) ? undefined : refused('other-model');
}

/** Enough others signed this entry: it is the newest here too, even if this authority missed some before it. */
export function adoptModel(
  { suite }: AuthorityPorts,
  task: AuthorityTask,
  entry: ModelEntry,
): Transition<AuthorityTask, AuthorityRecord, ModelEntry> {
  const { newest } = task;
  if (newest !== undefined && entry.version < newest.version) return unchanged(task, newest);
  const problem = newestProblem(suite, task, entry);
  if (problem !== undefined) return declined(task, problem);
  const isKnown = newest?.version === entry.version && isEndorsed(suite, modelEntryCodec, task.policy, newest);
  return isKnown ? unchanged(task, newest) : appended(task, entry);
}

/** The entry waits for the signatures of others; until then, this authority signs no other one of its version. */
function signedOnly(task: AuthorityTask, entry: ModelEntry): Transition<AuthorityTask, AuthorityRecord, ModelEntry> {
  return {
    state: { ...task, signed: entry },
    records: [{ kind: 'model-signed', entry }],
    answer: entry,
    events: [],
  };
}

/** A later version that this authority signed stays known, so that it signs no other one in its place. */
export function withNewest(task: AuthorityTask, newest: ModelEntry): AuthorityTask {
  const { signed, ...rest } = task;
  const later = signed !== undefined && signed.version > newest.version ? { signed } : {};
  return { ...rest, ...later, newest };
}

/**
 * After a rollback of the only authority the newest version may be repeated.
 *
 * One of several authorities allows no repeat after a rollback. The others know nothing of it and would refuse the repeat, but those that
 * signed it could sign no other version of its number: neither one would ever have enough signatures.
 */
export function inNewBranch(task: AuthorityTask): AuthorityTask {
  const { newest, policy } = task;
  return newest === undefined || policy.threshold > 1 ? task : { ...task, repeatable: newest.version };
}

function appended(task: AuthorityTask, entry: ModelEntry): Transition<AuthorityTask, AuthorityRecord, ModelEntry> {
  return {
    state: withNewest(task, entry),
    records: [{ kind: 'model-appended', entry }],
    answer: entry,
    events: [{ kind: 'model-logged', task: task.id, version: entry.version }],
  };
}

/**
 * One hash per version, t = last + 1, each from closed sums that made no other version. `logged` has this version. The entry is in the log
 * when enough authorities have signed it, or immediately if this authority is enough.
 */
export function appendModel(
  ports: AuthorityPorts,
  task: AuthorityTask,
  appendTo: AppendTo,
  append: ModelAppend,
): Transition<AuthorityTask, AuthorityRecord, ModelEntry> {
  const { suite, signer } = ports;
  const { newest, policy } = task;
  const refuse = (no: Refused) => declined(task, no);
  if (!isSigned(suite, modelAppendCodec, append, policy.serverKey)) return refuse(refused('server-unknown'));
  const known = appendTo.logged ?? (task.signed?.version === append.version ? task.signed : undefined);
  if (known !== undefined) {
    return isSameAppend(append, known) ? unchanged(task, known) : refuse(refused('other-model'));
  }
  const isPast = task.signed !== undefined && append.version < task.signed.version;
  if (isPast || append.version !== (newest === undefined ? 0 : newest.version + 1))
    return refuse(refused('wrong-version'));
  const sourceProblem = newest === undefined ? firstProblem(append) : sumsProblem(task, appendTo, append);
  if (sourceProblem !== undefined) return refuse(sourceProblem);
  const body: ModelEntryBody = {
    task: task.id,
    version: append.version,
    modelHash: append.modelHash,
    sums: append.sums,
    spoilt: append.spoilt,
    previous: newest === undefined ? new Uint8Array(32) : modelEntryCodec.statementHash(suite, newest),
  };
  const entry = endorse(modelEntryCodec, policy, signer, body);
  return policy.threshold === 1 ? appended(task, entry) : signedOnly(task, entry);
}

/** Version 0 comes from no sum. */
function firstProblem({ sums, spoilt }: ModelAppend): Refused | undefined {
  return sums.length + spoilt.length > 0 ? refused('buffer-unknown') : undefined;
}

function isSameAppend(append: ModelAppend, known: ModelEntry): boolean {
  const [asked, logged] = [append, known].map(({ sums, spoilt }) =>
    [sums, spoilt].map((list) => list.map(toHex).join()),
  );
  return equalBytes(append.modelHash, known.modelHash) && asked?.join(';') === logged?.join(';');
}

interface AppendTo {
  /** Its own entry of this version. */
  readonly logged: ModelEntry | undefined;
  /** True if a version in the log of this authority has this model. */
  readonly hasModel: (modelHash: Uint8Array) => boolean;
}

/**
 * Every sum is named once. A version whose sums are all spoilt repeats the model.
 *
 * If the task has one authority, the first version of a branch of its log may name no sum, and repeats any model in the log.
 */
function sumsProblem(
  { newest, repeatable }: AuthorityTask,
  { hasModel }: AppendTo,
  append: ModelAppend,
): Refused | undefined {
  const named = [...append.sums, ...append.spoilt];
  const isRepeat = named.length === 0;
  if (isRepeat && newest?.version !== repeatable)
    return refused('buffer-unknown', { detail: 'a version is made of at least one sum' });
  const isNewest = equalBytes(append.modelHash, newest?.modelHash ?? new Uint8Array());
  if (append.sums.length === 0 && !isNewest && !(isRepeat && hasModel(append.modelHash)))
    return refused('other-model', { detail: 'a version without a good sum must be the same as the one before it' });
  return new Set(named.map(toHex)).size < named.length ? refused('buffer-used') : undefined;
}
