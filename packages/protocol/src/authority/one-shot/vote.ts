/**
 * Inspects uploads, votes for a batch once, and considers it final when enough authorities voted for it. Votes are for
 * the ordered list: no two different batches with a common upload can both get enough votes.
 */
import { equalBytes, toHex } from '@basa/masking';
import type { Ctx, Millis } from '../../wire/brands.ts';
import { type Endorsement, endorse, hasGoodEndorsements, indexOf } from '../../wire/council.ts';
import { type Batch, batchCtxOf, usedNameOf } from '../../wire/one-shot/batch.ts';
import { batchProblem } from '../../wire/one-shot/batch-rules.ts';
import type { EpochName } from '../../wire/one-shot/epoch.ts';
import {
  type BatchVoteAnswer,
  type BatchVoteRequest,
  batchVoteRequestCodec,
  type InspectAnswer,
  type InspectRequest,
  inspectAnswerCodec,
  inspectRequestCodec,
  type ReleaseRequest,
  releaseRequestCodec,
  type Verdict,
} from '../../wire/one-shot/messages.ts';
import { type ShotHeader, uploadNameOf } from '../../wire/one-shot/upload.ts';
import { isRefused, type Refused, refused } from '../../wire/refusals.ts';
import { isSigned, signStatement } from '../../wire/signed.ts';
import { declined, type Transition, unchanged } from '../../wire/transition.ts';
import { type Vote, type VoteBody, voteCodec } from '../../wire/vote.ts';
import type { AuthorityPorts } from '../ports.ts';
import type { AuthorityRecord, BatchList } from '../records.ts';
import type { AuthorityState } from '../state.ts';
import type { AuthorityTask } from '../task.ts';
import { batchOf } from './batches.ts';
import type { ExaminedUpload } from './examine.ts';
import { type Judgement, memoryProblem } from './judge.ts';
import { sharedWork } from './shared-work.ts';

interface At {
  readonly ports: AuthorityPorts;
  readonly state: AuthorityState;
  readonly task: AuthorityTask;
  readonly now: Millis;
}

type Step<Answer> = Transition<undefined, AuthorityRecord, Answer>;

/** `examined` has the result of each upload of the request, in order. */
export function inspectUploads(
  at: At,
  request: InspectRequest,
  examined: readonly (ExaminedUpload | Refused)[],
): InspectAnswer | Refused {
  const { suite, signer } = at.ports;
  const { id, policy } = at.task;
  if (!isSigned(suite, inspectRequestCodec, request, policy.serverKey)) return refused('server-unknown');
  const judgement = judgementOf(at, request, []);
  const verdicts = request.uploads.map(({ header }, n) =>
    verdictOf(judgement, uploadNameOf(suite, header), examined[n] as ExaminedUpload | Refused),
  );
  return signStatement(inspectAnswerCodec, signer, { task: id, verdicts });
}

/** Reasons that concern this authority and not the upload. */
const ABSTAINING: readonly string[] = ['epoch-over', 'not-enrolled', 'model-not-logged'];

function verdictOf(judgement: Judgement, upload: Ctx, examined: ExaminedUpload | Refused): Verdict {
  const within = isRefused(examined) ? undefined : holderOf(judgement, upload, examined.header);
  const problem = isRefused(examined) ? examined : inspectionProblem(judgement, examined, within);
  if (problem === undefined && !isRefused(examined))
    return { upload, verdict: 'good', reason: undefined, guards: examined.guards };
  const reason = problem?.reason as Refused['reason'];
  return { upload, verdict: ABSTAINING.includes(reason) ? 'abstain' : 'bad', reason, guards: [] };
}

/** If votes of others excuse that the device is unknown, the server counts on this authority's vote. So it is told what they do not excuse. */
function inspectionProblem(
  judgement: Judgement,
  examined: ExaminedUpload,
  within: Ctx | undefined,
): Refused | undefined {
  const problem = memoryProblem(judgement, examined, within);
  if (problem?.reason !== 'not-enrolled') return problem;
  return memoryProblem({ ...judgement, isBacked: true }, examined, within) ?? problem;
}

/** The batch that holds this very upload: if it is inspected again for that batch, it is as good as before. */
function holderOf({ suite, state, task, shared }: Judgement, upload: Ctx, header: ShotHeader): Ctx | undefined {
  const list = batchOf(state.past.named(usedNameOf(suite, task.id, header)))?.list;
  const held = list && shared.batch(list.batch);
  return held?.uploads.has(toHex(upload)) ? held.ctx : undefined;
}

/** Votes for the batch, records the vote, and repeats it on every request. */
export function voteForBatch(
  at: At,
  request: BatchVoteRequest,
  examinedOf: (upload: Ctx) => ExaminedUpload | undefined,
): Step<BatchVoteAnswer> {
  const { ports, state, task } = at;
  const { suite } = ports;
  const { batch } = request;
  if (!isSigned(suite, batchVoteRequestCodec, request, task.policy.serverKey))
    return declined(undefined, refused('server-unknown'));
  const ctx = batchCtxOf(suite, batch);
  const known = state.batch(ctx);
  if (known !== undefined) return unchanged(undefined, { vote: voteOf(at, ctx), held: undefined });
  const found = batch.uploads.map(examinedOf);
  const unseen = found.flatMap((one, n) => (one === undefined ? [n] : []));
  if (unseen.length > 0) return declined(undefined, refused('not-inspected', { slots: unseen }));
  const uploads = found as readonly ExaminedUpload[];
  const headers = uploads.map(({ header }) => header);
  const judgement = judgementOf(at, request, goodVotes(at, ctx, request.votes));
  const problem = batchProblem(task.policy, headers) ?? memberProblem(judgement, uploads);
  if (problem !== undefined) {
    const held = heldBatch(judgement, headers);
    return held === undefined ? declined(undefined, problem) : unchanged(undefined, { vote: undefined, held });
  }
  const list = listOf(judgement.authority, batch, headers);
  const alone = task.policy.threshold === 1;
  const record: AuthorityRecord = alone
    ? { kind: 'batch-final', ctx, list, at: judgement.at }
    : { kind: 'batch-voted', list, at: judgement.at };
  return { state: undefined, records: [record], answer: { vote: voteOf(at, ctx), held: undefined }, events: [] };
}

/** A final batch: the sums of its masks may leave, any number of times. */
export interface ReleasedBatch {
  readonly kind: 'released';
  readonly ctx: Ctx;
  readonly vote: Vote;
}

/** With enough votes, considers the batch final even if this authority voted for another one. */
export function releaseBatch(at: At, request: ReleaseRequest): Step<ReleasedBatch> {
  const { ports, state, task, now } = at;
  const { suite } = ports;
  const { batch, uploads, votes } = request;
  const refuse = (no: Refused) => declined(undefined, no);
  if (!isSigned(suite, releaseRequestCodec, request, task.policy.serverKey)) return refuse(refused('server-unknown'));
  const isShown =
    uploads.length === batch.uploads.length &&
    uploads.every(({ header }, n) => equalBytes(uploadNameOf(suite, header), batch.uploads[n] as Ctx));
  if (!isShown) return refuse(refused('batch-invalid', { detail: 'the uploads are not those of the batch' }));
  const ctx = batchCtxOf(suite, batch);
  const headers = uploads.map(({ header }) => header);
  const problem = batchProblem(task.policy, headers) ?? releasableProblem(at, headers);
  if (problem !== undefined) return refuse(problem);
  const known = state.batch(ctx);
  const released: ReleasedBatch = { kind: 'released', ctx, vote: voteOf(at, ctx) };
  if (known?.isFinal) return unchanged(undefined, released);
  const { threshold } = task.policy;
  const good = goodVotes(at, ctx, votes);
  if (good.length < threshold) return refuse(refused('too-few-votes', { detail: `${good.length} of ${threshold}` }));
  const list = known === undefined ? listOf(indexOf(task.policy, ports.signer.publicKey), batch, headers) : undefined;
  const record: AuthorityRecord = { kind: 'batch-final', ctx, list, at: state.epochs.at(now) };
  const closed = { kind: 'buffer-closed' as const, ctx, accepted: uploads.length, dropped: 0 };
  return { state: undefined, records: [record], answer: released, events: [closed] };
}

/** Every upload must name a live epoch of this authority: none that was given up, or died with a lost log. */
function releasableProblem({ ports, state, task }: At, headers: readonly ShotHeader[]): Refused | undefined {
  const own = indexOf(task.policy, ports.signer.publicKey);
  const over = headers.flatMap(({ epochs }, n) => {
    const name = epochs.find(({ authority }) => authority === own);
    return name !== undefined && state.epochs.live(name.statement) !== undefined ? [] : [n];
  });
  return over.length > 0 ? refused('epoch-over', { slots: over }) : undefined;
}

function judgementOf(
  { ports, state, task, now }: At,
  { models }: Pick<InspectRequest, 'models'>,
  votes: readonly Endorsement[],
): Judgement {
  const authority = indexOf(task.policy, ports.signer.publicKey) as number;
  const others = votes.filter((vote) => vote.authority !== authority).length;
  const isBacked = others > (task.policy.oneShot?.tolerated ?? 0);
  const { suite } = ports;
  const shared = sharedWork(suite, task.policy);
  return { suite, state, task, authority, models, at: state.epochs.at(now), isBacked, shared };
}

function memberProblem(judgement: Judgement, uploads: readonly ExaminedUpload[]): Refused | undefined {
  const problems = uploads.map((upload) => memoryProblem(judgement, upload));
  const first = problems.find((problem) => problem !== undefined);
  if (first === undefined) return undefined;
  return refused(first.reason, {
    slots: problems.flatMap((problem, n) => (problem?.reason === first.reason ? [n] : [])),
  });
}

/** A batch in the log that holds one of these uploads. */
function heldBatch({ suite, state, task }: Judgement, headers: readonly ShotHeader[]): Batch | undefined {
  for (const header of headers) {
    const list = batchOf(state.past.named(usedNameOf(suite, task.id, header)))?.list;
    if (list !== undefined) return list.batch;
  }
  return undefined;
}

/** Every upload names an epoch of this authority: that was checked before. */
function listOf(authority: number | undefined, batch: Batch, headers: readonly ShotHeader[]): BatchList {
  const { entry, version } = headers[0] as ShotHeader;
  const members = headers.map(({ user, joinTag, epochs }) => {
    const own = epochs.find((name) => name.authority === authority) as EpochName;
    return { user, joinTag, statement: own.statement };
  });
  return { batch, entry, version, members };
}

function bodyOf({ task }: At, ctx: Ctx): VoteBody {
  return { task: task.id, ctx, closing: ctx };
}

function voteOf(at: At, ctx: Ctx): Vote {
  return endorse(voteCodec, at.task.policy, at.ports.signer, bodyOf(at, ctx));
}

/** Returns none if one of them is invalid. */
function goodVotes(at: At, ctx: Ctx, endorsements: readonly Endorsement[]): readonly Endorsement[] {
  const vote = { ...bodyOf(at, ctx), endorsements };
  return hasGoodEndorsements(at.ports.suite, voteCodec, at.task.policy, vote) ? endorsements : [];
}
