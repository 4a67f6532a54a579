/**
 * The attribute authority (AA) of the paper as one restorable state machine: tasks, devices, buffers and model logs.
 * It issues each slot's key once, closes each buffer once, and never takes a ciphertext or an update.
 *
 * A step reads this state and returns records with its answer; it changes nothing. Once the records are durable, `apply` makes
 * them true, and only then may the answer leave. Records of a step that was decided before others became true are not taken. After
 * a crash, `AttributeAuthority.restore(ports, records)` is the same authority; if the last records were lost, what others saw
 * of its log (`start`, `meetHead`) shows it.
 *
 * In memory are tasks, devices and open buffers. What became of the others is read from the log (`PastLog`) when somebody
 * asks: no buffer that has ended takes any memory, and none is forgotten.
 */
import { toHex } from '@basa/masking';
import type {
  BufferRequest,
  CloseAnswer,
  CloseRequest,
  KeyAnswer,
  KeyRequest,
  ModelAppend,
  OfferRequest,
  RevocationRequest,
  Revocations,
} from '../wire/authority-messages.ts';
import { bufferRequestCodec } from '../wire/authority-messages.ts';
import type { Ctx, Millis, TaskId, UserId } from '../wire/brands.ts';
import type { Certificate, CertificateBody } from '../wire/certificate.ts';
import { userIdOf } from '../wire/certificate.ts';
import { indexOf } from '../wire/council.ts';
import type { BufferPart, Descriptor } from '../wire/descriptor.ts';
import type { BasaEvent } from '../wire/events.ts';
import type { Head, ModelEntry, NewestModel } from '../wire/model-log.ts';
import type { Outcome } from '../wire/outcome.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { taskIdOf } from '../wire/policy.ts';
import type { Refused } from '../wire/refusals.ts';
import { isRefused, refused } from '../wire/refusals.ts';
import { isSigned } from '../wire/signed.ts';
import type { Transition } from '../wire/transition.ts';
import { declined, unchanged } from '../wire/transition.ts';
import type { AuthorityBuffer, AuthorityPorts } from './buffer.ts';
import { abortIfOverdue, drawnBuffer, evolveBuffer, ownPart, restoredBuffer, signOutcome } from './buffer.ts';
import type { SettledBuffer } from './close.ts';
import { closeBuffer, releaseKeys, settleBuffer } from './close.ts';
import type { EnrolledDevice } from './device.ts';
import { enrolDevice, revokeDevice, withCertificate } from './device.ts';
import type { LogPosition } from './head.ts';
import { contradictsLog, FIRST_BRANCH, isOwnHead, signHead, signNewest } from './head.ts';
import { Inclusions } from './inclusions.ts';
import { issueKey } from './issue-key.ts';
import { OpenOffers } from './offers.ts';
import type { PastLog } from './past-log.ts';
import { DraftLog, drawName, LogInMemory, modelName } from './past-log.ts';
import type { AuthorityRecord } from './records.ts';
import { EMPTY_LOG_HASH, nextLogHash } from './records.ts';
import { tellRevocations } from './revocations.ts';
import type { AuthorityTask, FreshKeys } from './task.ts';
import { adoptModel, appendModel, createTask, drawBuffer, makeOffer, withNewest } from './task.ts';

export interface AuthorityStep<Answer> extends Omit<Transition<never, AuthorityRecord, Answer>, 'state'> {
  /** How long the log was when the step was decided; missing where it was not asked. */
  readonly decidedAt?: number;
}

type DeviceMap = Pick<Map<string, EnrolledDevice>, 'get' | 'set'>;

export class AttributeAuthority {
  readonly #ports: AuthorityPorts;
  readonly #tasks = new Map<string, AuthorityTask>();
  /** There may be millions. */
  #devices: DeviceMap = new Map<string, EnrolledDevice>();
  /** In the order of the log. */
  readonly #revoked: EnrolledDevice[] = [];
  /** The open buffers alone. */
  readonly #open = new Map<string, AuthorityBuffer>();
  readonly #past: PastLog;
  /** A draft has the same ones: an offer that a lost step used is not good any more. */
  #offers = new OpenOffers();
  #inclusions = new Inclusions();
  #sequence = 0;
  #hash: Uint8Array = EMPTY_LOG_HASH;
  readonly #branches: Uint8Array[] = [FIRST_BRANCH];
  /** Branches of lost lives of the log that were met: each gives up what is open once. */
  readonly #retired: Uint8Array[] = [];

  /** `past` is the log on disk; without one, the authority keeps its log in memory. */
  constructor(ports: AuthorityPorts, past: PastLog = new LogInMemory(ports.suite)) {
    this.#ports = ports;
    this.#past = past;
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
  apply(records: Iterable<AuthorityRecord>, decidedAt: number = this.#sequence): void {
    if (decidedAt !== this.#sequence)
      throw new Error(`the step was decided after ${decidedAt} records, and there are ${this.#sequence} by now`);
    for (const entry of records) this.#apply(entry);
  }

  /** This authority as it will be, for steps that become durable together: what is applied to a draft changes nothing here. */
  draft(): AttributeAuthority {
    const draft = new AttributeAuthority(this.#ports, new DraftLog(this.#ports.suite, this.#past, this.#sequence));
    const [known, changed] = [this.#devices, new Map<string, EnrolledDevice>()];
    draft.#devices = {
      get: (name) => changed.get(name) ?? known.get(name),
      set: (name, device) => changed.set(name, device),
    };
    for (const [name, task] of this.#tasks) draft.#tasks.set(name, task);
    for (const [name, buffer] of this.#open) draft.#open.set(name, buffer);
    for (const device of this.#revoked) draft.#revoked.push(device);
    draft.#offers = this.#offers;
    draft.#inclusions = new Inclusions(this.#inclusions);
    draft.#branches.splice(0, draft.#branches.length, ...this.#branches);
    draft.#retired.push(...this.#retired);
    draft.#sequence = this.#sequence;
    draft.#hash = this.#hash;
    return draft;
  }

  get publicKey(): Uint8Array {
    return this.#ports.signer.publicKey;
  }

  buffer(ctx: Ctx): AuthorityBuffer | undefined {
    return this.#open.get(toHex(ctx)) ?? restoredBuffer(this.#ports.suite, this.#past.named(ctx));
  }

  /** How many buffers are in memory. */
  get openBuffers(): number {
    return this.#open.size;
  }

  isOpen(ctx: Ctx): boolean {
    return this.#open.has(toHex(ctx));
  }

  newestModel(task: TaskId): ModelEntry | undefined {
    return this.#tasks.get(toHex(task))?.newest;
  }

  /** The same for a device, which must know that nobody replays it. */
  showNewestModel(task: TaskId, nonce: Uint8Array): NewestModel | undefined {
    return signNewest(this.#ports.signer, this.#log(), this.newestModel(task), nonce);
  }

  model(task: TaskId, version: number): ModelEntry | undefined {
    const [found] = this.#past.named(modelName(task, version));
    return found?.kind === 'model-appended' ? found.entry : undefined;
  }

  createTask(policy: TaskPolicy): AuthorityStep<{ readonly task: TaskId }> {
    const step = createTask(this.#ports, policy);
    const isKnown = 'task' in step.answer && this.#tasks.has(toHex(step.answer.task));
    return this.#decided(isKnown ? unchanged(undefined, step.answer) : step);
  }

  enrol(body: CertificateBody): AuthorityStep<Certificate> {
    const task = this.#tasks.get(toHex(body.task));
    if (task === undefined) return this.#decided(declined(undefined, refused('task-unknown')));
    const device = this.#devices.get(toHex(userIdOf(this.#ports.suite, body.deviceKey)));
    return this.#decided(enrolDevice(this.#ports, task.policy, device, body));
  }

  revoke(user: UserId, now: Millis): AuthorityStep<{ readonly kind: 'revoked' }> {
    return this.#decided(revokeDevice(this.#devices.get(toHex(user)), now));
  }

  /** Which devices of a task were revoked, for its server: the head says how many there are. */
  revocations(request: RevocationRequest): AuthorityStep<Revocations> {
    const task = this.#tasks.get(toHex(request.task));
    if (task === undefined) return this.#decided(declined(undefined, refused('task-unknown')));
    const branch = this.#branches.at(-1) ?? FIRST_BRANCH;
    return this.#decided(tellRevocations(this.#ports, task, { branch, revoked: this.#revoked }, request));
  }

  /**
   * What this authority would bring to a buffer. `fresh` holds new random bytes and the name of the keys made of them. An offer
   * serves one descriptor and is in memory alone: whoever was rolled back has none.
   */
  offer(request: OfferRequest, fresh: FreshKeys, now: Millis): AuthorityStep<BufferPart> {
    const task = this.#tasks.get(toHex(request.task));
    if (task === undefined) return this.#decided(declined(undefined, refused('task-unknown')));
    const step = makeOffer(this.#ports, task, request, fresh);
    if (!isRefused(step.answer)) this.#offers.add(task.id, step.answer, now);
    return this.#decided(step);
  }

  /** One authority alone draws with `fresh` keys; with several the request names the offers that it is made of. */
  drawBuffer(request: BufferRequest, fresh: FreshKeys, now: Millis): AuthorityStep<Descriptor> {
    const task = this.#tasks.get(toHex(request.task));
    if (task === undefined) return this.#decided(declined(undefined, refused('task-unknown')));
    const [earlier] = this.#past.named(drawName(request));
    const [plan] = request.plan;
    const own =
      plan === undefined
        ? { authority: indexOf(task.policy, this.publicKey) ?? 0, ...fresh }
        : this.#offers.find(task.id, plan.parts, now);
    const step = drawBuffer(this.#ports, task, request, own, now);
    // The same nonce gets the same buffer; whoever asks is checked by the step.
    const isServers = isSigned(this.#ports.suite, bufferRequestCodec, request, task.policy.serverKey);
    const isRepeated = earlier?.kind === 'buffer-drawn' && isServers;
    return this.#decided(isRepeated ? unchanged(undefined, earlier.descriptor) : step);
  }

  issueKey(request: KeyRequest, now: Millis): AuthorityStep<KeyAnswer> {
    return this.#withBuffer(request.ticket.ctx, (buffer) => {
      const user = userIdOf(this.#ports.suite, request.certificate.deviceKey);
      const known = { device: this.#devices.get(toHex(user)), overBudget: this.#inclusions.problem(buffer, user) };
      return issueKey(this.#ports, buffer, known, request, now);
    });
  }

  close(request: CloseRequest, now: Millis): AuthorityStep<CloseAnswer> {
    return this.#withBuffer(request.ctx, (buffer) => closeBuffer(this.#ports, buffer, request, now));
  }

  /** The close without its keys: `release` computes them, once this is durable. */
  settle(request: CloseRequest, now: Millis): AuthorityStep<SettledBuffer> {
    return this.#withBuffer(request.ctx, (buffer) => settleBuffer(this.#ports, buffer, request, now));
  }

  /** The keys of a settled buffer, computed here or `made` elsewhere: one for each slot. */
  release(settled: SettledBuffer, made?: readonly (Uint8Array | undefined)[]): CloseAnswer | Refused {
    return releaseKeys(this.#ports, settled, made);
  }

  /** Anybody may ask. A buffer that is not known is "unknown", never "aborted". */
  outcome(ctx: Ctx, now: Millis): AuthorityStep<Outcome> {
    const buffer = this.buffer(ctx);
    if (buffer === undefined) return this.#decided(unchanged(undefined, signOutcome(this.#ports, ctx, undefined)));
    const records = abortIfOverdue(buffer, now);
    const state = records.reduce(evolveBuffer, buffer);
    return this.#decided({ state, records, answer: signOutcome(this.#ports, ctx, state), events: eventsOf(records) });
  }

  appendModel(append: ModelAppend): AuthorityStep<ModelEntry> {
    const task = this.#tasks.get(toHex(append.task));
    if (task === undefined) return this.#decided(declined(undefined, refused('task-unknown')));
    const found = { buffer: this.buffer(append.ctx), logged: this.model(append.task, append.version) };
    return this.#decided(appendModel(this.#ports, task, found, append));
  }

  /** Somebody shows an entry that enough authorities signed. */
  adoptModel(entry: ModelEntry): AuthorityStep<ModelEntry> {
    const task = this.#tasks.get(toHex(entry.task));
    if (task === undefined) return this.#decided(declined(undefined, refused('task-unknown')));
    return this.#decided(adoptModel(this.#ports, task, entry));
  }

  /** Aborts what is overdue, and says when to call again. */
  tick(now: Millis): AuthorityStep<{ readonly nextAt: Millis | undefined }> {
    const open = [...this.#open.values()];
    const records = open.flatMap((buffer) => abortIfOverdue(buffer, now));
    const nextAt = open
      .map(({ descriptor }) => descriptor.closeBy)
      .filter((closeBy) => closeBy > now)
      .reduce<Millis | undefined>(
        (least, closeBy) => (least === undefined || closeBy < least ? closeBy : least),
        undefined,
      );
    return this.#decided({ state: undefined, records, answer: { nextAt }, events: eventsOf(records) });
  }

  /** How far the durable log has come; others keep it and show it back. */
  head(): Head {
    return signHead(this.#ports.signer, this.#log());
  }

  /** Somebody shows a head it was given. One that contradicts the log proves that the log was rolled back, once. */
  meetHead(seen: Head, freshBranch: Uint8Array): AuthorityStep<{ readonly rolledBack: boolean }> {
    const isRolledBack = isOwnHead(this.#ports.suite, this.publicKey, seen) && contradictsLog(this.#log(), seen);
    return isRolledBack
      ? this.#beginBranch(freshBranch, [seen])
      : this.#decided(unchanged(undefined, { rolledBack: false }));
  }

  /** After a restart: the witness is the last head kept elsewhere. Without a good one, nothing open can be trusted. */
  start(witness: Head | undefined, freshBranch: Uint8Array): AuthorityStep<{ readonly rolledBack: boolean }> {
    const isGood = witness !== undefined && isOwnHead(this.#ports.suite, this.publicKey, witness);
    return isGood ? this.meetHead(witness, freshBranch) : this.#beginBranch(freshBranch, []);
  }

  /** Gives up every open buffer: no key, no release, and an update sent there never enters another. */
  #beginBranch(branch: Uint8Array, met: readonly Head[]): AuthorityStep<{ readonly rolledBack: boolean }> {
    const open = [...this.#open.values()];
    const records: AuthorityRecord[] = [
      ...open.map(({ ctx }): AuthorityRecord => ({ kind: 'buffer-unknown', ctx })),
      { kind: 'branch-begun', branch, met },
    ];
    const events = [...eventsOf(records), { kind: 'authority-rolled-back' as const, givenUp: open.length }];
    return this.#decided({ state: undefined, records, answer: { rolledBack: true }, events });
  }

  #withBuffer<Answer>(
    ctx: Ctx,
    step: (buffer: AuthorityBuffer) => Transition<AuthorityBuffer, AuthorityRecord, Answer>,
  ): AuthorityStep<Answer> {
    const buffer = this.buffer(ctx);
    return this.#decided(buffer === undefined ? declined(undefined, refused('buffer-unknown')) : step(buffer));
  }

  #decided<State, Answer>({
    records,
    answer,
    events,
  }: Transition<State, AuthorityRecord, Answer>): AuthorityStep<Answer> {
    return { records, answer, events, decidedAt: this.#sequence };
  }

  #log(): LogPosition {
    return {
      sequence: this.#sequence,
      branches: this.#branches,
      retired: this.#retired,
      revocations: this.#revoked.length,
      hashAt: (sequence) => (sequence === this.#sequence ? this.#hash : this.#past.hashAt(sequence)),
    };
  }

  #apply(entry: AuthorityRecord): void {
    const { suite } = this.#ports;
    this.#sequence++;
    this.#hash = nextLogHash(suite, this.#hash, entry);
    this.#past.add?.(entry, this.#hash);
    switch (entry.kind) {
      case 'task-created': {
        const id = taskIdOf(suite, entry.policy);
        this.#tasks.set(toHex(id), { id, policy: entry.policy });
        return;
      }
      case 'device-enrolled': {
        const { certificate } = entry;
        const name = toHex(userIdOf(suite, certificate.deviceKey));
        // One name of the task for all of its devices: there may be millions.
        const task = this.#tasks.get(toHex(certificate.task))?.id ?? certificate.task;
        this.#devices.set(name, withCertificate(suite, this.#devices.get(name), { ...certificate, task }));
        return;
      }
      case 'device-revoked': {
        const device = this.#devices.get(toHex(entry.user));
        if (device === undefined) return;
        const revoked = { ...device, revoked: true };
        this.#devices.set(toHex(entry.user), revoked);
        this.#revoked.push(revoked);
        return;
      }
      case 'buffer-drawn': {
        const buffer = drawnBuffer(suite, entry.descriptor);
        this.#open.set(toHex(buffer.ctx), buffer);
        this.#offers.use(ownPart(this.publicKey, entry.descriptor));
        return;
      }
      case 'model-appended': {
        const name = toHex(entry.entry.task);
        const before = this.#tasks.get(name);
        if (before !== undefined) this.#tasks.set(name, withNewest(before, entry.entry));
        // A closed buffer is in the log alone; so is one from now on that the others closed while this authority was away.
        this.#evolve(entry.entry.ctx, entry);
        return;
      }
      case 'model-signed': {
        const name = toHex(entry.entry.task);
        const before = this.#tasks.get(name);
        if (before !== undefined) this.#tasks.set(name, { ...before, signed: entry.entry });
        return;
      }
      case 'branch-begun':
        this.#branches.push(entry.branch);
        this.#retired.push(...entry.met.map(({ branch }) => branch));
        return;
      default:
        this.#evolve(entry.ctx, entry);
    }
  }

  #evolve(ctx: Ctx, entry: AuthorityRecord): void {
    const name = toHex(ctx);
    const before = this.#open.get(name);
    if (before === undefined) return;
    this.#inclusions.note(before, entry);
    const buffer = evolveBuffer(before, entry);
    if (buffer.status === 'open' && buffer.version === undefined) this.#open.set(name, buffer);
    else this.#open.delete(name);
  }
}

function eventsOf(records: readonly AuthorityRecord[]): readonly BasaEvent[] {
  return records.flatMap((entry) =>
    entry.kind === 'buffer-aborted' || entry.kind === 'buffer-unknown' ? [{ kind: entry.kind, ctx: entry.ctx }] : [],
  );
}
