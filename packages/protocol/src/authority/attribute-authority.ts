/**
 * The attribute authority (AA) of the paper as one restorable state machine: tasks, devices, buffers and model logs.
 * It issues each slot's key once, closes each buffer once, and never takes a ciphertext or an update.
 *
 * A step reads the state and returns records with its answer; it changes nothing. Once the records are durable, `apply` makes
 * them true, and only then may the answer leave. Records of a step that was decided before others became true are rejected. After
 * a crash, `AttributeAuthority.restore(ports, records)` is the same authority; if the last records were lost, the heads that
 * others saw of its log (`start`, `meetHead`) reveal it.
 */
import { equalBytes } from '@basa/masking';
import {
  type AbortRequest,
  type BufferRequest,
  bufferRequestCodec,
  type CloseAnswer,
  type CloseRequest,
  type KeyAnswer,
  type KeyRequest,
  type ModelAppend,
  type OfferRequest,
  type RevocationRequest,
  type Revocations,
} from '../wire/authority-messages.ts';
import type { Ctx, Millis, TaskId, UserId } from '../wire/brands.ts';
import { type Certificate, type CertificateBody, userIdOf } from '../wire/certificate.ts';
import { indexOf, othersOf } from '../wire/council.ts';
import type { BufferPart, SignedDescriptor } from '../wire/descriptor.ts';
import type { BasaEvent } from '../wire/events.ts';
import type { Head, ModelEntry, NewestModel } from '../wire/model-log.ts';
import type { AuthorityStanding, Epoch } from '../wire/one-shot/epoch.ts';
import type {
  BatchVoteAnswer,
  BatchVoteRequest,
  InspectAnswer,
  InspectRequest,
  ReleaseRequest,
  ShotOutcome,
} from '../wire/one-shot/messages.ts';
import type { Outcome } from '../wire/outcome.ts';
import { type TaskPolicy, taskIdOf } from '../wire/policy.ts';
import { isRefused, type Refused, refused } from '../wire/refusals.ts';
import { isSigned } from '../wire/signed.ts';
import { certifyingCouncil, type Line, type Term } from '../wire/term.ts';
import { declined, type Transition, unchanged } from '../wire/transition.ts';
import {
  type AuthorityBuffer,
  type AuthorityPorts,
  abortBuffer,
  endIfOverdue,
  endOf,
  evolveBuffer,
  signOutcome,
} from './buffer.ts';
import { closeBuffer, releaseKeys, type SettledBuffer, settleBuffer } from './close.ts';
import { enrolDevice, revokeDevice } from './device.ts';
import { drawBuffer, type FreshKeys, makeOffer } from './draw.ts';
import { signHead, signNewest } from './head.ts';
import { issueKey } from './issue-key.ts';
import type { LiveEpoch } from './one-shot/epoch-book.ts';
import type { EpochKeys } from './one-shot/epoch-keys.ts';
import { isEpochDue, openEpoch, overdueEpochs, standingOf } from './one-shot/epochs.ts';
import type { ExaminedUpload } from './one-shot/examine.ts';
import { type OutcomeQuestion, tellOutcome } from './one-shot/outcome.ts';
import { inspectUploads, type ReleasedBatch, releaseBatch, voteForBatch } from './one-shot/vote.ts';
import { drawName, LogInMemory, modelHashName, type PastLog } from './past-log.ts';
import type { AuthorityRecord } from './records.ts';
import { tellRevocations } from './revocations.ts';
import { meetEpoch, meetHead, meetWitness } from './rollback.ts';
import { AuthorityState } from './state.ts';
import { acceptSeat, adoptLine, beginDueTerm, isSeated, joinTask, signTerm } from './succession.ts';
import { type AuthorityTask, adoptModel, appendModel, createTask, renewModel } from './task.ts';

export interface AuthorityStep<Answer> extends Omit<Transition<never, AuthorityRecord, Answer>, 'state'> {
  /** The length of the log when the step was decided; missing if it was not asked. */
  readonly decidedAt?: number;
}

export class AttributeAuthority {
  readonly #ports: AuthorityPorts;
  #state: AuthorityState;

  /** `past` is the log on disk; without one, the authority keeps its log in memory. */
  constructor(ports: AuthorityPorts, past: PastLog = new LogInMemory(ports.suite)) {
    this.#ports = ports;
    this.#state = new AuthorityState(ports, past);
  }

  static restore(ports: AuthorityPorts, records: Iterable<AuthorityRecord>, past?: PastLog): AttributeAuthority {
    const authority = new AttributeAuthority(ports, past);
    authority.apply(records);
    return authority;
  }

  /**
   * The records are durable, and true from now on: those of a step, from before a restart, or of another node of this authority.
   * `decidedAt` is the step's.
   */
  apply(records: Iterable<AuthorityRecord>, decidedAt: number = this.#state.sequence): void {
    const { sequence } = this.#state;
    if (decidedAt !== sequence)
      throw new Error(`the step was decided after ${decidedAt} records, and there are ${sequence} by now`);
    for (const entry of records) this.#state.apply(entry);
  }

  /** A copy of this authority for steps that become durable together: applying records to a draft changes nothing here. */
  draft(): AttributeAuthority {
    const draft = new AttributeAuthority(this.#ports);
    draft.#state = this.#state.draft();
    return draft;
  }

  get publicKey(): Uint8Array {
    return this.#ports.signer.publicKey;
  }

  buffer(ctx: Ctx): AuthorityBuffer | undefined {
    return this.#state.buffer(ctx);
  }

  /** The number of buffers in memory. */
  get openBuffers(): number {
    return this.#state.openCount;
  }

  isOpen(ctx: Ctx): boolean {
    return this.#state.isOpen(ctx);
  }

  newestModel(task: TaskId): ModelEntry | undefined {
    return this.#state.task(task)?.newest;
  }

  /** The same for a device, which must know that it is not a replay. */
  showNewestModel(task: TaskId, nonce: Uint8Array): NewestModel | undefined {
    const known = this.#state.task(task);
    if (known === undefined || !isSeated(this.#ports, known.policy)) return undefined;
    return signNewest(this.#ports.signer, known.policy, this.#state.position, known.newest, nonce);
  }

  model(task: TaskId, version: number): ModelEntry | undefined {
    return this.#state.model(task, version);
  }

  createTask(policy: TaskPolicy): AuthorityStep<{ readonly task: TaskId }> {
    const step = createTask(this.#ports, policy);
    const isKnown = 'task' in step.answer && this.#state.task(step.answer.task) !== undefined;
    return this.#decided(isKnown ? unchanged(undefined, step.answer) : step);
  }

  /** Signs a successor of the task, if its operator asks: as the seat that this authority has, or as the key that takes one. */
  signTerm(term: Term, now: Millis): AuthorityStep<Term> {
    const task = this.#state.task(term.task);
    const isAccepted = equalBytes(term.key, this.publicKey);
    if (isAccepted) return this.#decided(acceptSeat(this.#ports, term));
    return this.#decided(
      task === undefined ? declined(undefined, refused('task-unknown')) : signTerm(this.#ports, task, term, now),
    );
  }

  /** Takes the terms of a task that a party shows, and adopts new ones. A successor joins its task this way. */
  followLine(line: Line, now: Millis): AuthorityStep<{ readonly task: TaskId }> {
    const task = this.#state.task(taskIdOf(this.#ports.suite, line.policy));
    return task === undefined
      ? this.#decided(joinTask(this.#ports, line, now))
      : this.#decided(adoptLine(this.#ports, task, line));
  }

  /** The policy of the task in its first term, and its terms, including the next one. */
  line(task: TaskId): Line | undefined {
    return this.#state.line(task);
  }

  enrol(body: CertificateBody): AuthorityStep<Certificate> {
    return this.#withTask(body.task, (task) => {
      const device = this.#state.device(userIdOf(this.#ports.suite, body.deviceKey));
      return enrolDevice(this.#ports, task.policy, device, body);
    });
  }

  /**
   * True if enough other authorities certified this device for its task, in this term or the one before. Certificates of the term before end
   * `certificateMs` after the switch: the thief of a key that was replaced may sign later ones. Signatures are checked last.
   */
  isHandedOver(
    certificate: Certificate,
    deviceKey: Uint8Array,
    { now, certificateMs }: { readonly now: Millis; readonly certificateMs: number },
  ): boolean {
    const policy = this.#state.task(certificate.task)?.policy;
    if (policy === undefined || !equalBytes(certificate.deviceKey, deviceKey) || now > certificate.notAfter)
      return false;
    const by = certifyingCouncil(this.#ports.suite, policy, certificate);
    const isTooOld = by !== policy && now > (policy.term?.effective ?? 0) + certificateMs;
    return by !== undefined && !isTooOld && othersOf(by, this.#ports.signer, certificate) >= by.threshold;
  }

  revoke(user: UserId, now: Millis): AuthorityStep<{ readonly kind: 'revoked' }> {
    return this.#decided(revokeDevice(this.#state.device(user), user, this.#state.tasks, now));
  }

  /** The revoked devices of a task, for its server: the head gives their number. */
  revocations(request: RevocationRequest): AuthorityStep<Revocations> {
    return this.#withTask(request.task, (task) => tellRevocations(this.#ports, task, this.#state, request));
  }

  /**
   * Makes this authority's offer for a buffer. `fresh` holds new random bytes and the name of the keys made from them. An offer serves one
   * descriptor and is only in memory, so an authority that was rolled back has no offers.
   */
  offer(request: OfferRequest, fresh: FreshKeys, now: Millis): AuthorityStep<BufferPart> {
    return this.#withTask(request.task, (task) => {
      const step = makeOffer(this.#ports, task, request, fresh);
      if (!isRefused(step.answer)) this.#state.offers.add(task.id, step.answer, now);
      return step;
    });
  }

  /** A single authority draws with `fresh` keys; with several the request names the offers for the buffer. */
  drawBuffer(request: BufferRequest, fresh: FreshKeys, now: Millis): AuthorityStep<SignedDescriptor> {
    return this.#withTask(request.task, (task) => {
      const [earlier] = this.#state.past.named(drawName(request));
      const [plan] = request.plan;
      const own =
        plan === undefined
          ? { authority: indexOf(task.policy, this.publicKey) ?? 0, ...fresh }
          : this.#state.offers.find(task.id, plan.parts, now);
      const logged = this.model(request.task, request.model.version);
      const step = drawBuffer(this.#ports, task, request, { own, logged }, now);
      // The same nonce gets the same buffer; the step checks the sender.
      const isServers = isSigned(this.#ports.suite, bufferRequestCodec, request, task.policy.serverKey);
      const isRepeated = earlier?.kind === 'buffer-drawn' && isServers;
      return isRepeated ? unchanged(undefined, earlier.descriptor) : step;
    });
  }

  issueKey(request: KeyRequest, now: Millis): AuthorityStep<KeyAnswer> {
    return this.#withBuffer(request.ticket.ctx, (buffer) => {
      const user = userIdOf(this.#ports.suite, request.certificate.deviceKey);
      const known = {
        device: this.#state.device(user),
        overBudget: this.#state.inclusions.problem(buffer.descriptor.task, buffer.descriptor.privacy, user),
      };
      return issueKey(this.#ports, buffer, known, request, now);
    });
  }

  close(request: CloseRequest, now: Millis): AuthorityStep<CloseAnswer> {
    return this.#withBuffer(request.ctx, (buffer) => closeBuffer(this.#ports, buffer, request, now));
  }

  /** Settles the close without its keys: `release` computes them, once this is durable. */
  settle(request: CloseRequest, now: Millis): AuthorityStep<SettledBuffer> {
    return this.#withBuffer(request.ctx, (buffer) => settleBuffer(this.#ports, buffer, request, now));
  }

  /** The keys of a settled buffer, computed here or `made` elsewhere: one for each slot. */
  release(settled: SettledBuffer, made?: readonly (Uint8Array | undefined)[]): CloseAnswer | Refused {
    return releaseKeys(this.#ports, settled, made);
  }

  /** Anyone may ask. A buffer that is not known is "unknown", never "aborted". */
  outcome(ctx: Ctx, now: Millis): AuthorityStep<Outcome> {
    const known = this.buffer(ctx);
    const buffer = known !== undefined && isSeated(this.#ports, known.descriptor) ? known : undefined;
    if (buffer === undefined) return this.#decided(unchanged(undefined, signOutcome(this.#ports, ctx, undefined)));
    const records = endIfOverdue(buffer, now);
    const state = records.reduce(evolveBuffer, buffer);
    return this.#decided({ state, records, answer: signOutcome(this.#ports, ctx, state), events: eventsOf(records) });
  }

  /** The server gives the buffer up because it can never have enough updates: it ends as it would at closeBy, only sooner. */
  abort(request: AbortRequest, now: Millis): AuthorityStep<Outcome> {
    return this.#withBuffer(request.ctx, (buffer) => abortBuffer(this.#ports, buffer, request, now));
  }

  appendModel(append: ModelAppend): AuthorityStep<ModelEntry> {
    return this.#withTask(append.task, (task) => {
      const found = {
        sum: (ctx: Ctx) => this.#state.sum(ctx),
        logged: this.model(append.task, append.version),
        hasModel: (hash: Uint8Array) => this.#state.past.named(modelHashName(append.task, hash)).length > 0,
      };
      return appendModel(this.#ports, task, found, append);
    });
  }

  /** True if the task needs a new epoch key (one-shot mode). */
  isEpochDue(task: TaskId, now: Millis): boolean {
    const known = this.#state.task(task);
    return known !== undefined && isSeated(this.#ports, known.policy) && isEpochDue(this.#state.epochs, known, now);
  }

  /** The keys are new. Their secret must be durable no later than the record of this step. */
  openEpoch(task: TaskId, keys: EpochKeys, now: Millis): AuthorityStep<{ readonly kind: 'opened' | 'not-due' }> {
    return this.#withTask(task, (known) => openEpoch(this.#ports.signer, this.#state.epochs, known, keys, now));
  }

  /** The statements of the epochs whose secrets are needed. */
  get liveEpochs(): readonly LiveEpoch[] {
    return this.#state.epochs.all;
  }

  /** The epoch that devices of the task seal to, with the newest model and the time. */
  standing(task: TaskId, now: Millis): AuthorityStanding | Refused {
    const known = this.#state.task(task);
    if (known === undefined) return refused('task-unknown');
    if (!isSeated(this.#ports, known.policy)) return refused('no-seat');
    return standingOf(this.#ports.signer, this.#state.epochs, known, this.head(), now);
  }

  /** `examined` has the result of `examineUpload` for each upload of the request. Nothing is recorded. */
  inspect(
    request: InspectRequest,
    examined: readonly (ExaminedUpload | Refused)[],
    now: Millis,
  ): InspectAnswer | Refused {
    const task = this.#state.task(request.task);
    if (task === undefined) return refused('task-unknown');
    if (!isSeated(this.#ports, task.policy)) return refused('no-seat');
    return inspectUploads({ ports: this.#ports, state: this.#state, task, now }, request, examined);
  }

  voteForBatch(
    request: BatchVoteRequest,
    examinedOf: (upload: Ctx) => ExaminedUpload | undefined,
    now: Millis,
  ): AuthorityStep<BatchVoteAnswer> {
    return this.#withTask(request.batch.task, (task) =>
      voteForBatch({ ports: this.#ports, state: this.#state, task, now }, request, examinedOf),
    );
  }

  /** The batch is final once this is durable; then the sums of its masks may leave. */
  releaseBatch(request: ReleaseRequest, now: Millis): AuthorityStep<ReleasedBatch> {
    return this.#withTask(request.batch.task, (task) =>
      releaseBatch({ ports: this.#ports, state: this.#state, task, now }, request),
    );
  }

  /** For the device of the upload. The caller must have checked the signature of that device. */
  shotOutcome(task: TaskId, question: OutcomeQuestion, now: Millis): AuthorityStep<ShotOutcome> {
    return this.#withTask(task, (known) => tellOutcome(this.#ports, this.#state, known, question, now));
  }

  /** An epoch of this authority that is missing in its log proves a rollback. */
  meetEpoch(epoch: Epoch, freshBranch: Uint8Array, now: Millis): AuthorityStep<{ readonly rolledBack: boolean }> {
    return this.#decided(meetEpoch({ ports: this.#ports, state: this.#state, freshBranch, now }, epoch));
  }

  /** A party shows an entry that enough authorities signed. */
  adoptModel(entry: ModelEntry): AuthorityStep<ModelEntry> {
    return this.#withTask(entry.task, (task) => adoptModel(this.#ports, task, entry));
  }

  /** A party shows the newest entry of the term before: it is signed again in this one. */
  renewModel(entry: ModelEntry): AuthorityStep<ModelEntry> {
    return this.#withTask(entry.task, (task) => renewModel(this.#ports, task, entry));
  }

  /** Begins terms whose time has come, ends overdue buffers and epochs, and returns the time of the next call. */
  tick(now: Millis): AuthorityStep<{ readonly nextAt: Millis | undefined }> {
    const begun = this.#state.tasks.flatMap((task) =>
      beginDueTerm(task, { buffers: this.#state.openBuffers, epochs: this.#state.epochs }, now),
    );
    // A new term gives up all open buffers. The next call looks for overdue buffers among the others.
    if (begun.length > 0)
      return this.#decided({ state: undefined, records: begun, answer: { nextAt: now }, events: eventsOf(begun) });
    const open = this.#state.openBuffers;
    const overdue = overdueEpochs(this.#state.epochs, ({ epoch }) => this.#state.task(epoch.task)?.policy, now);
    const records = [...open.flatMap((buffer) => endIfOverdue(buffer, now)), ...overdue];
    const nextAt = open
      .map(endOf)
      .filter((end) => end > now)
      .reduce<Millis | undefined>((least, end) => (least === undefined || end < least ? end : least), undefined);
    return this.#decided({ state: undefined, records, answer: { nextAt }, events: eventsOf(records) });
  }

  /** The position of the durable log; others keep it and show it back. */
  head(): Head {
    return signHead(this.#ports.signer, this.#state.position);
  }

  /** A head of this authority that contradicts its log proves a rollback. */
  meetHead(seen: Head, freshBranch: Uint8Array, now: Millis): AuthorityStep<{ readonly rolledBack: boolean }> {
    return this.#decided(meetHead({ ports: this.#ports, state: this.#state, freshBranch, now }, seen));
  }

  /** After a restart: the witness is the last head kept elsewhere. */
  start(
    witness: Head | undefined,
    freshBranch: Uint8Array,
    now: Millis,
  ): AuthorityStep<{ readonly rolledBack: boolean }> {
    return this.#decided(meetWitness({ ports: this.#ports, state: this.#state, freshBranch, now }, witness));
  }

  #withTask<State, Answer>(
    id: TaskId,
    step: (task: AuthorityTask) => Transition<State, AuthorityRecord, Answer>,
  ): AuthorityStep<Answer> {
    const task = this.#state.task(id);
    return this.#decided(task === undefined ? declined(undefined, refused('task-unknown')) : this.#seated(task, step));
  }

  #withBuffer<Answer>(
    ctx: Ctx,
    step: (buffer: AuthorityBuffer) => Transition<AuthorityBuffer, AuthorityRecord, Answer>,
  ): AuthorityStep<Answer> {
    const buffer = this.buffer(ctx);
    if (buffer === undefined) return this.#decided(declined(undefined, refused('buffer-unknown')));
    if (!isSeated(this.#ports, buffer.descriptor)) return this.#decided(declined(undefined, refused('no-seat')));
    return this.#decided(step(buffer));
  }

  /** Only an authority with a seat in the current term answers, and not before its term starts or after it ends. */
  #seated<State, Answer>(
    task: AuthorityTask,
    step: (task: AuthorityTask) => Transition<State, AuthorityRecord, Answer>,
  ): Transition<State | undefined, AuthorityRecord, Answer> {
    return isSeated(this.#ports, task.policy) ? step(task) : declined(undefined, refused('no-seat'));
  }

  #decided<State, Answer>({
    records,
    answer,
    events,
  }: Transition<State, AuthorityRecord, Answer>): AuthorityStep<Answer> {
    return { records, answer, events, decidedAt: this.#state.sequence };
  }
}

function eventsOf(records: readonly AuthorityRecord[]): readonly BasaEvent[] {
  return records.flatMap((entry) =>
    entry.kind === 'buffer-aborted' || entry.kind === 'buffer-unknown' ? [{ kind: entry.kind, ctx: entry.ctx }] : [],
  );
}
