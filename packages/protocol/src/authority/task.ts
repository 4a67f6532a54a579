/** A task at the authority: its policy, the buffers it draws, and the append-only log of its models. */
import type { Suite } from '@basa/masking';
import { equalBytes } from '@basa/masking';
import type { BufferRequest, ModelAppend } from '../wire/authority-messages.ts';
import { bufferRequestCodec, modelAppendCodec } from '../wire/authority-messages.ts';
import type { Millis, TaskId } from '../wire/brands.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { policyProblem, policyWeightScale, taskIdOf } from '../wire/policy.ts';
import type { Refused } from '../wire/refusals.ts';
import { refused } from '../wire/refusals.ts';
import type { Descriptor, DescriptorBody, ModelEntry, ModelEntryBody } from '../wire/statements.ts';
import { descriptorCodec, isSigned, modelEntryCodec } from '../wire/statements.ts';
import type { Transition } from '../wire/transition.ts';
import { declined, unchanged } from '../wire/transition.ts';
import type { AuthorityBuffer, AuthorityPorts } from './buffer.ts';
import type { AuthorityRecord } from './records.ts';

export interface AuthorityTask {
  readonly id: TaskId;
  readonly policy: TaskPolicy;
  /** The last entry of its model log; missing before version 0. */
  readonly newest?: ModelEntry;
}

/** A policy whose sums could wrap, or that no buffer can satisfy, never becomes a task. */
export function createTask(
  suite: Suite,
  policy: TaskPolicy,
): Transition<AuthorityTask | undefined, AuthorityRecord, { readonly task: TaskId }> {
  const problem = policyProblem(policy);
  if (problem !== undefined) return declined(undefined, refused('policy-invalid', { detail: problem }));
  const id = taskIdOf(suite, policy);
  return {
    state: { id, policy },
    records: [{ kind: 'task-created', policy }],
    answer: { task: id },
    events: [],
  };
}

/** Draws and signs the descriptor of a new buffer, when the first seat is asked: so that t is fresh. */
export function drawBuffer(
  { suite, signer }: AuthorityPorts,
  task: AuthorityTask,
  request: BufferRequest,
  fresh: { readonly bufferId: Uint8Array; readonly sealingKey: Uint8Array },
  now: Millis,
): Transition<AuthorityTask, AuthorityRecord, Descriptor> {
  const { policy, newest } = task;
  const refuse = (no: Refused) => declined(task, no);
  if (!isSigned(suite, bufferRequestCodec, request, policy.serverKey)) return refuse(refused('server-unknown'));
  if (newest === undefined) return refuse(refused('model-not-logged', { detail: 'append version 0 first' }));
  const { name: _, training: __, openMs, closeMs, ...shared } = policy;
  const expiry = (now + openMs) as Millis;
  const body: DescriptorBody = {
    ...shared,
    ...fresh,
    task: task.id,
    version: newest.version,
    modelHash: newest.modelHash,
    weightScale: policyWeightScale(policy),
    authorityKeyId: suite.sha256(signer.publicKey),
    expiry,
    closeBy: (expiry + closeMs) as Millis,
  };
  const descriptor = { ...body, signature: signer.sign(descriptorCodec.statement(body)) };
  const ctx = descriptorCodec.statementHash(suite, body);
  return {
    state: task,
    records: [{ kind: 'buffer-drawn', nonce: request.nonce, descriptor }],
    answer: descriptor,
    events: [{ kind: 'buffer-drawn', ctx: ctx as AuthorityBuffer['ctx'], task: task.id, version: newest.version }],
  };
}

/** One hash per version, t = last + 1, each from a closed buffer that made no other version. `logged` has this version. */
export function appendModel(
  { suite, signer }: AuthorityPorts,
  task: AuthorityTask,
  { buffer, logged }: { readonly buffer: AuthorityBuffer | undefined; readonly logged: ModelEntry | undefined },
  append: ModelAppend,
): Transition<AuthorityTask, AuthorityRecord, ModelEntry> {
  const { newest } = task;
  const refuse = (no: Refused) => declined(task, no);
  if (!isSigned(suite, modelAppendCodec, append, task.policy.serverKey)) return refuse(refused('server-unknown'));
  if (logged !== undefined) {
    const isSame = equalBytes(append.modelHash, logged.modelHash) && equalBytes(append.ctx, logged.ctx);
    return isSame ? unchanged(task, logged) : refuse(refused('other-model'));
  }
  if (append.version !== (newest === undefined ? 0 : newest.version + 1)) return refuse(refused('wrong-version'));
  const sourceProblem = newest === undefined ? firstProblem(append) : bufferProblem(task, buffer, append);
  if (sourceProblem !== undefined) return refuse(sourceProblem);
  const body: ModelEntryBody = {
    task: task.id,
    version: append.version,
    modelHash: append.modelHash,
    ctx: append.ctx,
    previous: newest === undefined ? new Uint8Array(32) : modelEntryCodec.statementHash(suite, newest),
  };
  const entry = { ...body, signature: signer.sign(modelEntryCodec.statement(body)) };
  return {
    state: { ...task, newest: entry },
    records: [{ kind: 'model-appended', entry }],
    answer: entry,
    events: [{ kind: 'model-logged', task: task.id, version: entry.version }],
  };
}

/** Version 0 comes from no buffer. */
function firstProblem({ ctx }: ModelAppend): Refused | undefined {
  return ctx.some((byte) => byte !== 0) ? refused('buffer-unknown') : undefined;
}

function bufferProblem(
  task: AuthorityTask,
  buffer: AuthorityBuffer | undefined,
  append: ModelAppend,
): Refused | undefined {
  if (buffer === undefined || !equalBytes(buffer.ctx, append.ctx)) return refused('buffer-unknown');
  if (!equalBytes(buffer.descriptor.task, task.id)) return refused('buffer-unknown');
  if (buffer.status !== 'closed') return refused('buffer-not-closed');
  return buffer.version === undefined ? undefined : refused('buffer-used');
}
