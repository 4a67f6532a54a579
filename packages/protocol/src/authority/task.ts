/** A task at the authority: its policy, the buffers it draws, and the append-only log of its models. */
import { equalBytes, type Suite, toHex } from '@basa/masking';
import {
  type BufferPlan,
  type BufferRequest,
  bufferRequestCodec,
  type ModelAppend,
  modelAppendCodec,
  type OfferRequest,
  offerRequestCodec,
} from '../wire/authority-messages.ts';
import type { Ctx, Millis, TaskId } from '../wire/brands.ts';
import { endorse, indexOf, isEndorsed, othersOf } from '../wire/council.ts';
import {
  type BufferPart,
  ctxOf,
  type DescriptorBody,
  descriptorCodec,
  type SignedDescriptor,
} from '../wire/descriptor.ts';
import { type ModelEntry, type ModelEntryBody, modelEntryCodec } from '../wire/model-log.ts';
import { voteCodec } from '../wire/outcome.ts';
import { policyProblem, type TaskPolicy, taskIdOf } from '../wire/policy.ts';
import { type Refused, refused } from '../wire/refusals.ts';
import { isSigned } from '../wire/signed.ts';
import { declined, type Transition, unchanged } from '../wire/transition.ts';
import type { AuthorityPorts } from './buffer.ts';
import type { AuthorityRecord } from './records.ts';

export interface AuthorityTask {
  readonly id: TaskId;
  readonly policy: TaskPolicy;
  /** The last entry of its model log, signed by enough authorities; missing before version 0. */
  readonly newest?: ModelEntry;
  /** What this authority signed for the version after it, before enough others did. */
  readonly signed?: ModelEntry;
}

/** A policy whose sums could wrap, or that no buffer can satisfy, never becomes a task. */
export function createTask(
  { suite, signer }: AuthorityPorts,
  policy: TaskPolicy,
): Transition<AuthorityTask | undefined, AuthorityRecord, { readonly task: TaskId }> {
  const isMember = indexOf(policy, signer.publicKey) !== undefined;
  const problem = policyProblem(policy) ?? (isMember ? undefined : 'this authority is none of those that it names');
  if (problem !== undefined) return declined(undefined, refused('policy-invalid', { detail: problem }));
  const id = taskIdOf(suite, policy);
  return {
    state: { id, policy },
    records: [{ kind: 'task-created', policy }],
    answer: { task: id },
    events: [],
  };
}

/** New random bytes of this authority, and what the descriptor says of the keys made of them. */
export type FreshKeys = Pick<BufferPart, 'offer' | 'sealingKey'>;

/** For the server of the task alone. */
export function makeOffer(
  { suite, signer }: AuthorityPorts,
  task: AuthorityTask,
  request: OfferRequest,
  fresh: FreshKeys,
): Transition<AuthorityTask, never, BufferPart> {
  const { policy } = task;
  if (!isSigned(suite, offerRequestCodec, request, policy.serverKey)) return declined(task, refused('server-unknown'));
  const authority = indexOf(policy, signer.publicKey) as number;
  return unchanged(task, { authority, ...fresh });
}

/** How far ahead of this authority's clock the one of the server may be. */
const CLOCK_SLACK_MS = 5 * 60_000;

interface DrawFrom {
  /**
   * The part that this authority brings to the buffer: its offer of the plan, or a fresh one if there is no plan because it is the only
   * authority. Missing if it has no such offer open.
   */
  readonly own: BufferPart | undefined;
  /** Its own entry of the version that is asked for. */
  readonly logged: ModelEntry | undefined;
}

/** Signs the descriptor of a new buffer, drawn when the first seat in it is asked for. */
export function drawBuffer(
  { suite, signer }: AuthorityPorts,
  task: AuthorityTask,
  request: BufferRequest,
  { own, logged }: DrawFrom,
  now: Millis,
): Transition<AuthorityTask, AuthorityRecord, SignedDescriptor> {
  const { policy } = task;
  const refuse = (no: Refused) => declined(task, no);
  if (!isSigned(suite, bufferRequestCodec, request, policy.serverKey)) return refuse(refused('server-unknown'));
  if (policy.oneShot !== undefined)
    return refuse(refused('plan-invalid', { detail: 'the task is of the one-shot mode' }));
  if (own === undefined) return refuse(refused('offer-unknown'));
  const { model, newest } = request;
  const [plan] = request.plan;
  const problem =
    (plan === undefined ? aloneProblem(task, newest) : planProblem(task, plan, own, now)) ??
    newestProblem(suite, task, newest) ??
    modelProblem(suite, task, request, logged);
  if (problem !== undefined) return refuse(problem);
  const alone = { parts: [own], expiry: (now + policy.openMs) as Millis };
  const { version, modelHash } = model;
  const body: DescriptorBody = { task: task.id, version, modelHash, ...(plan ?? alone) };
  const descriptor = endorse(descriptorCodec, policy, signer, body);
  const isAhead = newest.version > (task.newest?.version ?? -1);
  return {
    state: isAhead ? withNewest(task, newest) : task,
    records: [
      ...(isAhead ? [{ kind: 'model-appended' as const, entry: newest }] : []),
      { kind: 'buffer-drawn', nonce: request.nonce, descriptor },
    ],
    answer: descriptor,
    events: [{ kind: 'buffer-drawn', ctx: ctxOf(suite, body), task: task.id, version }],
  };
}

/** The only authority knows every entry: one beyond its log is of a life of the log that is lost. */
function aloneProblem({ policy, newest: own }: AuthorityTask, newest: ModelEntry): Refused | undefined {
  if (policy.authorities.length > 1) return refused('plan-invalid', { detail: 'several authorities need a plan' });
  const isBeyond = newest.version > (own?.version ?? -1);
  return isBeyond ? refused('model-not-logged', { detail: `version ${newest.version}` }) : undefined;
}

/** Parts of enough authorities, mine as I offered it, and an end that the policy allows. */
function planProblem(
  task: AuthorityTask,
  { parts, expiry }: BufferPlan,
  own: BufferPart,
  now: Millis,
): Refused | undefined {
  const { policy } = task;
  const mine = parts.find(({ authority }) => authority === own.authority);
  if (mine === undefined || !equalBytes(mine.offer, own.offer) || !equalBytes(mine.sealingKey, own.sealingKey))
    return refused('offer-unknown', { detail: 'my part is not as I offered it' });
  const isOfCouncil = parts.every(({ authority }) => authority < policy.authorities.length);
  if (!isOfCouncil || parts.length < policy.threshold)
    return refused('plan-invalid', { detail: `parts of at least ${policy.threshold} authorities are needed` });
  if (expiry <= now || expiry > now + policy.openMs + CLOCK_SLACK_MS)
    return refused('plan-invalid', { detail: `it would end at ${expiry}, and it is ${now} here` });
  return undefined;
}

/**
 * A buffer may be drawn for the newest version. With one version a buffer, devices still train on earlier ones: any version that is not older
 * than the policy allows, if it is the one in this authority's log or signed by enough authorities.
 */
function modelProblem(
  suite: Suite,
  { id, policy }: AuthorityTask,
  { model, newest }: Pick<BufferRequest, 'model' | 'newest'>,
  logged: ModelEntry | undefined,
): Refused | undefined {
  const oldest = policy.versions === 'one' ? newest.version - policy.maxStaleness : newest.version;
  if (model.version < oldest || model.version > newest.version)
    return refused('wrong-version', { detail: `version ${newest.version} is the newest` });
  if (!equalBytes(model.task, id) || !isEndorsed(suite, modelEntryCodec, policy, model))
    return refused('model-not-logged');
  const known = model.version === newest.version ? newest : logged;
  return known === undefined || equalBytes(known.modelHash, model.modelHash) ? undefined : refused('other-model');
}

/** The entry is signed by enough authorities, and does not go back behind the one that is known here. */
function newestProblem(suite: Suite, { id, policy, newest }: AuthorityTask, entry: ModelEntry): Refused | undefined {
  if (!equalBytes(entry.task, id) || !isEndorsed(suite, modelEntryCodec, policy, entry))
    return refused('model-not-logged');
  if (newest === undefined || entry.version > newest.version) return undefined;
  if (entry.version < newest.version)
    return refused('wrong-version', { detail: `version ${newest.version} is the newest here` });
  return equalBytes(entry.modelHash, newest.modelHash) ? undefined : refused('other-model');
}

/** Enough others signed this entry: it is the newest here too, whatever this authority missed before it. */
export function adoptModel(
  { suite }: AuthorityPorts,
  task: AuthorityTask,
  entry: ModelEntry,
): Transition<AuthorityTask, AuthorityRecord, ModelEntry> {
  const { newest } = task;
  if (newest !== undefined && entry.version < newest.version) return unchanged(task, newest);
  const problem = newestProblem(suite, task, entry);
  if (problem !== undefined) return declined(task, problem);
  if (newest?.version === entry.version) return unchanged(task, newest);
  return appended(task, entry);
}

export function withNewest(task: AuthorityTask, newest: ModelEntry): AuthorityTask {
  const { signed: _, ...rest } = task;
  return { ...rest, newest };
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
 * One hash per version, t = last + 1, each from closed sums that made no other version. `logged` has this version. The entry is
 * in the log once enough authorities signed it: at once where this one is enough.
 */
export function appendModel(
  ports: AuthorityPorts,
  task: AuthorityTask,
  { sum, logged }: AppendTo,
  append: ModelAppend,
): Transition<AuthorityTask, AuthorityRecord, ModelEntry> {
  const { suite, signer } = ports;
  const { newest, policy } = task;
  const refuse = (no: Refused) => declined(task, no);
  if (!isSigned(suite, modelAppendCodec, append, policy.serverKey)) return refuse(refused('server-unknown'));
  const known = logged ?? (task.signed?.version === append.version ? task.signed : undefined);
  if (known !== undefined) {
    return isSameAppend(append, known) ? unchanged(task, known) : refuse(refused('other-model'));
  }
  if (append.version !== (newest === undefined ? 0 : newest.version + 1)) return refuse(refused('wrong-version'));
  const sourceProblem = newest === undefined ? firstProblem(append) : sumsProblem(ports, task, sum, append);
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
  if (policy.threshold === 1) return appended(task, entry);
  return {
    state: { ...task, signed: entry },
    records: [{ kind: 'model-signed', entry }],
    answer: entry,
    events: [],
  };
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

/** What this authority knows of a sum, of a buffer or of a batch. */
export interface KnownSum {
  readonly task: TaskId;
  /** The hash that this authority voted for. */
  readonly voted: Uint8Array | undefined;
  readonly isClosed: boolean;
  /** The version that it made, or was left out of. */
  readonly version: number | undefined;
}

interface AppendTo {
  readonly sum: (ctx: Ctx) => KnownSum | undefined;
  /** Its own entry of this version. */
  readonly logged: ModelEntry | undefined;
}

/** Every sum is named once, is closed, and makes this version and no other. */
function sumsProblem(
  ports: AuthorityPorts,
  task: AuthorityTask,
  sum: AppendTo['sum'],
  append: ModelAppend,
): Refused | undefined {
  const named = [...append.sums, ...append.spoilt];
  if (append.sums.length === 0) return refused('buffer-unknown', { detail: 'a version is made of at least one sum' });
  if (new Set(named.map(toHex)).size < named.length) return refused('buffer-used');
  for (const ctx of named) {
    const problem = sumProblem(ports, task, sum(ctx), ctx, append);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * Its own record of the close, or the votes of enough authorities for it. Its own vote counts with its record alone: without one, it
 * lost its memory of the sum, and gave it up.
 */
function sumProblem(
  { suite, signer }: AuthorityPorts,
  { id, policy }: AuthorityTask,
  known: KnownSum | undefined,
  ctx: Ctx,
  { closed }: ModelAppend,
): Refused | undefined {
  const vote = closed.find((one) => equalBytes(one.ctx, ctx));
  const isVoted =
    vote !== undefined &&
    equalBytes(vote.task, id) &&
    isEndorsed(suite, voteCodec, policy, vote) &&
    (othersOf(policy, signer, vote) >= policy.threshold ||
      (known?.voted !== undefined && equalBytes(known.voted, vote.closing)));
  if (known === undefined) return isVoted ? undefined : refused('buffer-unknown');
  if (!equalBytes(known.task, id)) return refused('buffer-unknown');
  if (known.version !== undefined) return refused('buffer-used');
  return known.isClosed || isVoted ? undefined : refused('buffer-not-closed');
}
