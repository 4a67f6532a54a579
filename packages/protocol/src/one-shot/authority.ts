/**
 * An authority of the one-shot mode: messages 3 (inspect), 4 (vote) and 5 (release), in this order. Each is a function of what the
 * authority keeps: devices, and for each live epoch one unit of a secret and the names that were used under it.
 *
 * Nothing here changes anything. A vote and a release return `writes`: once each of them is on the disk, the signature may leave.
 */
import { equalBytes, type Signer, type Suite } from '@basa/masking';
import { isSigned, signStatement } from '../wire/codec.ts';
import { endorse, hasGoodEndorsements, Vote } from '../wire/council.ts';
import type { Ctx, TaskId, UserId } from '../wire/fields.ts';
import { BatchVoteRequest, InspectAnswer, InspectRequest, ReleaseRequest, type Verdict } from '../wire/messages.ts';
import type { Epoch } from '../wire/model.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { participationsOf } from '../wire/privacy.ts';
import { isRefused, type Refused, refused } from '../wire/refusals.ts';
import { type Batch, batchCtxOf, givenNameOf, type ShotHeader, uploadNameOf } from '../wire/upload.ts';
import type { ExaminedUpload } from './parts.ts';
import { batchProblem } from './rules.ts';

/** The unit of one live epoch. While it is there, its secret and all names that were used under it are. */
export interface Unit {
  readonly epoch: Epoch;
  /** The hash of the epoch's statement. */
  readonly statement: Uint8Array;
  /** The batch in which a name was used. */
  ctxOf(name: Uint8Array): Ctx | undefined;
  isFinal(ctx: Ctx): boolean;
}

export interface Authority {
  readonly suite: Suite;
  readonly signer: Signer;
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  /** Its index in the policy. */
  readonly index: number;
  /** The units of the task. */
  readonly units: readonly Unit[];
  isRevoked(user: UserId): boolean;
  /** In a task that limits them: the batches of the device that got a vote here, or are known to be final. */
  batchesOf(user: UserId): number;
}

/** One record for one unit. The file of the unit has it before the signature leaves, and it stays if there is none. */
export interface UnitWrite {
  readonly statement: Uint8Array;
  readonly kind: 'voted' | 'final';
  readonly ctx: Ctx;
  readonly names: readonly Uint8Array[];
}

export interface Decision {
  readonly kind: 'decided';
  readonly ctx: Ctx;
  readonly writes: readonly UnitWrite[];
  /** Each takes part in this batch: counted once, whether it is voted for, final or both. */
  readonly users: readonly UserId[];
}

/** Message 3. `examined` has the result of each upload of the request, in order. Nothing is recorded. */
export function inspect(
  at: Authority,
  request: InspectRequest,
  examined: readonly (ExaminedUpload | Refused)[],
): InspectAnswer | Refused {
  const problem = requestProblem(at, request.task, isSigned(at.suite, InspectRequest, request, at.policy.serverKey));
  if (problem !== undefined) return problem;
  const verdicts = request.uploads.map(({ header }, n) =>
    verdictOf(at, header, examined[n] as ExaminedUpload | Refused),
  );
  return signStatement(InspectAnswer, at.signer, { task: at.task, verdicts });
}

function requestProblem({ task }: Authority, asked: TaskId, isOfServer: boolean): Refused | undefined {
  if (!equalBytes(asked, task)) return refused('task-unknown');
  return isOfServer ? undefined : refused('server-unknown');
}

function verdictOf(at: Authority, header: ShotHeader, examined: ExaminedUpload | Refused): Verdict {
  const upload = uploadNameOf(at.suite, header);
  const nothing = { upload, reason: undefined, guards: [], used: undefined };
  if (isRefused(examined) && examined.reason !== 'epoch-over')
    return { ...nothing, verdict: 'bad', reason: examined.reason };
  // Its epoch has ended, or its unit is gone.
  if (isRefused(examined) || ownUnit(at, header) === undefined)
    return { ...nothing, verdict: 'abstain', reason: 'epoch-over' };
  const used = usedIn(at, nameOf(at, header));
  if (used !== undefined) return { ...nothing, verdict: 'used', used };
  const problem = deviceProblem(at, header.user);
  if (problem !== undefined) return { ...nothing, verdict: 'bad', reason: problem };
  return { ...nothing, verdict: 'good', guards: examined.guards };
}

function deviceProblem({ policy, isRevoked, batchesOf }: Authority, user: UserId): Refused['reason'] | undefined {
  if (isRevoked(user)) return 'revoked';
  const most = participationsOf(policy) ?? Number.POSITIVE_INFINITY;
  return batchesOf(user) >= most ? 'budget-spent' : undefined;
}

/**
 * Message 4. `inspected` has the uploads that this authority called good, or used. Their names must be free, or used in this very batch, in
 * every live unit, and they are recorded in the unit of the epoch to which each upload was sealed. The same batch again gets the same vote.
 */
export function vote(
  at: Authority,
  request: BatchVoteRequest,
  inspected: (upload: Ctx) => ShotHeader | undefined,
): Decision | Refused {
  const { batch } = request;
  const isOfServer = isSigned(at.suite, BatchVoteRequest, request, at.policy.serverKey);
  const foreign = requestProblem(at, batch.task, isOfServer);
  if (foreign !== undefined) return foreign;
  const found = batch.uploads.map(inspected);
  const unseen = positionsOf(found, (header) => header === undefined);
  if (unseen.length > 0) return refused('not-inspected', { uploads: unseen });
  const headers = found as readonly ShotHeader[];
  const problem = batchProblem(at.policy, headers) ?? livesProblem(at, headers);
  if (problem !== undefined) return problem;
  const ctx = batchCtxOf(at.suite, batch);
  const elsewhere = positionsOf(headers, (header) => {
    const used = usedIn(at, nameOf(at, header));
    return used !== undefined && !equalBytes(used, ctx);
  });
  if (elsewhere.length > 0) return refused('upload-used', { uploads: elsewhere });
  const isRecorded = ({ ctxOf }: Unit, names: readonly Uint8Array[]) =>
    names.every((name) => ctxOf(name) !== undefined);
  return decided(at, 'voted', ctx, headers, isRecorded);
}

/** The signature for a batch, once every write of its decision is on the disk. */
export function signVote({ policy, signer, task }: Authority, ctx: Ctx): Vote {
  return endorse(Vote, policy, signer, { task, ctx });
}

/**
 * Message 5. Enough authorities voted: the batch is final, whatever this one voted for itself. The sums of its masks may leave once the
 * writes are on the disk, any number of times while the units live.
 */
export function release(at: Authority, request: ReleaseRequest): Decision | Refused {
  const { batch, uploads, votes } = request;
  const isOfServer = isSigned(at.suite, ReleaseRequest, request, at.policy.serverKey);
  const foreign = requestProblem(at, batch.task, isOfServer);
  if (foreign !== undefined) return foreign;
  const headers = uploads.map(({ header }) => header);
  if (!isBatchOf(at.suite, batch, headers))
    return refused('batch-invalid', { detail: 'the uploads are not those of the batch' });
  const problem = batchProblem(at.policy, headers) ?? livesProblem(at, headers);
  if (problem !== undefined) return problem;
  const ctx = batchCtxOf(at.suite, batch);
  const { threshold } = at.policy;
  const isVoted = hasGoodEndorsements(at.suite, Vote, at.policy, { task: at.task, ctx, endorsements: votes });
  if (!isVoted || votes.length < threshold)
    return refused('too-few-votes', { detail: `${isVoted ? votes.length : 0} of ${threshold}` });
  return decided(at, 'final', ctx, headers, ({ isFinal }) => isFinal(ctx));
}

function isBatchOf(suite: Suite, { uploads }: Batch, headers: readonly ShotHeader[]): boolean {
  if (uploads.length !== headers.length) return false;
  return headers.every((header, n) => equalBytes(uploadNameOf(suite, header), uploads[n] as Ctx));
}

/** Every upload names a unit that this authority holds. */
function livesProblem(at: Authority, headers: readonly ShotHeader[]): Refused | undefined {
  const over = positionsOf(headers, (header) => ownUnit(at, header) === undefined);
  return over.length > 0 ? refused('epoch-over', { uploads: over }) : undefined;
}

function decided(
  at: Authority,
  kind: UnitWrite['kind'],
  ctx: Ctx,
  headers: readonly ShotHeader[],
  isRecorded: (unit: Unit, names: readonly Uint8Array[]) => boolean,
): Decision {
  const byUnit = new Map<Unit, Uint8Array[]>();
  for (const header of headers) {
    const unit = ownUnit(at, header) as Unit;
    byUnit.set(unit, [...(byUnit.get(unit) ?? []), nameOf(at, header)]);
  }
  const writes = [...byUnit].flatMap(([unit, names]): readonly UnitWrite[] =>
    isRecorded(unit, names) ? [] : [{ statement: unit.statement, kind, ctx, names }],
  );
  return { kind: 'decided', ctx, writes, users: headers.map(({ user }) => user) };
}

/** (u, H(model statement)): a device gives one update on a model, and it is in one batch. */
function nameOf({ suite, task }: Authority, header: ShotHeader): Uint8Array {
  return givenNameOf(suite, task, header.model, header.user);
}

function usedIn({ units }: Authority, name: Uint8Array): Ctx | undefined {
  for (const { ctxOf } of units) {
    const ctx = ctxOf(name);
    if (ctx !== undefined) return ctx;
  }
  return undefined;
}

function ownUnit({ index, units }: Authority, { epochs }: ShotHeader): Unit | undefined {
  const own = epochs.find(({ authority }) => authority === index);
  return own && units.find(({ statement }) => equalBytes(statement, own.statement));
}

function positionsOf<Item>(items: readonly Item[], isMeant: (item: Item) => boolean): readonly number[] {
  return items.flatMap((item, n) => (isMeant(item) ? [n] : []));
}
