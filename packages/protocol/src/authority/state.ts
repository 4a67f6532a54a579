/**
 * The state of an authority, as its records give it: tasks, devices, open buffers, and the position of its log. The status of other buffers
 * is read from the log (`PastLog`) on demand, so ended buffers take no memory but are never forgotten.
 */
import { toHex } from '@basa/masking';
import { type Ctx, type Millis, millis, type TaskId, type UserId } from '../wire/brands.ts';
import { userIdOf } from '../wire/certificate.ts';
import { hasGoodEndorsements, isSignedInTerm } from '../wire/council.ts';
import { descriptorCodec } from '../wire/descriptor.ts';
import type { ModelEntry } from '../wire/model-log.ts';
import { batchCtxOf } from '../wire/one-shot/batch.ts';
import { epochCodec } from '../wire/one-shot/epoch.ts';
import { type TaskPolicy, taskIdOf } from '../wire/policy.ts';
import type { Line } from '../wire/term.ts';
import { type AuthorityBuffer, type AuthorityPorts, drawnBuffer, evolveBuffer, ownPart } from './buffer.ts';
import { admitsByOthers, type EnrolledDevice, withCertificate } from './device.ts';
import { FIRST_BRANCH, type LogPosition } from './head.ts';
import { Inclusions } from './inclusions.ts';
import { OpenOffers } from './offers.ts';
import { type AuthorityBatch, batchOf } from './one-shot/batches.ts';
import { EpochBook } from './one-shot/epoch-book.ts';
import { DraftLog, modelName, type PastLog } from './past-log.ts';
import { type AuthorityRecord, type BatchList, EMPTY_LOG_HASH, nextLogHash } from './records.ts';
import { evolveTerm } from './succession.ts';
import { type AuthorityTask, inNewBranch, type KnownSum, withNewest } from './task.ts';

type DeviceMap = Pick<Map<string, EnrolledDevice>, 'get' | 'set'>;

export class AuthorityState {
  readonly past: PastLog;
  readonly #ports: Pick<AuthorityPorts, 'suite' | 'signer'>;
  readonly #tasks = new Map<string, AuthorityTask>();
  /** In their first terms. */
  readonly #policies = new Map<string, TaskPolicy>();
  /** There may be millions. */
  #devices: DeviceMap = new Map<string, EnrolledDevice>();
  /** In the order of the log. */
  readonly #revoked: EnrolledDevice[] = [];
  /** Only the open buffers. */
  readonly #open = new Map<string, AuthorityBuffer>();
  #offers = new OpenOffers();
  #inclusions = new Inclusions();
  #epochs: EpochBook;
  #sequence = 0;
  #hash: Uint8Array = EMPTY_LOG_HASH;
  readonly #branches: Uint8Array[] = [FIRST_BRANCH];
  /** The number of records before those of the current branch. */
  #branchStart = 0;
  /** The time of the last of these records that has one. */
  #branchedAt = millis(0);
  /** Branches of lost lives of the log that were met: each causes everything open to be given up once. */
  readonly #retired: Uint8Array[] = [];

  constructor(ports: Pick<AuthorityPorts, 'suite' | 'signer'>, past: PastLog) {
    this.#ports = ports;
    this.past = past;
    this.#epochs = new EpochBook(ports.suite);
  }

  /** Returns a copy: records applied to it change nothing here. */
  draft(): AuthorityState {
    const draft = new AuthorityState(this.#ports, new DraftLog(this.#ports.suite, this.past, this.#sequence));
    const [known, changed] = [this.#devices, new Map<string, EnrolledDevice>()];
    draft.#devices = {
      get: (name) => changed.get(name) ?? known.get(name),
      set: (name, device) => changed.set(name, device),
    };
    for (const [name, task] of this.#tasks) draft.#tasks.set(name, task);
    for (const [name, policy] of this.#policies) draft.#policies.set(name, policy);
    for (const [name, buffer] of this.#open) draft.#open.set(name, buffer);
    for (const device of this.#revoked) draft.#revoked.push(device);
    draft.#offers = this.#offers;
    draft.#inclusions = new Inclusions(this.#inclusions);
    draft.#epochs = this.#epochs.draft();
    draft.#branches.splice(0, draft.#branches.length, ...this.#branches);
    draft.#branchStart = this.#branchStart;
    draft.#branchedAt = this.#branchedAt;
    draft.#retired.push(...this.#retired);
    draft.#sequence = this.#sequence;
    draft.#hash = this.#hash;
    return draft;
  }

  /** The number of records. */
  get sequence(): number {
    return this.#sequence;
  }

  /** A draft shares them: an offer that a lost step used is no longer valid. */
  get offers(): OpenOffers {
    return this.#offers;
  }

  /** The epoch keys of the one-shot mode. */
  get epochs(): EpochBook {
    return this.#epochs;
  }

  get inclusions(): Inclusions {
    return this.#inclusions;
  }

  /** In the order of the log. */
  get revoked(): readonly EnrolledDevice[] {
    return this.#revoked;
  }

  /** The current life of the log. */
  get branch(): Uint8Array {
    return this.#branches.at(-1) ?? FIRST_BRANCH;
  }

  /**
   * The current branch began at this time or later; 0 if the log was never rolled back. Usually it is the time at which the branch began,
   * because open epochs are recorded as dead then. If none was open, a lost epoch may begin another branch, which records the time.
   */
  get branchedAt(): Millis {
    return this.#branchedAt;
  }

  /**
   * The records of the current branch with this name. A statement that something was never released counts only in the branch in which it
   * was recorded: once a rollback shows, it may have been released in the lost life of the log.
   */
  ofBranch(name: Uint8Array): readonly AuthorityRecord[] {
    return this.past.named(name, this.#branchStart);
  }

  get position(): LogPosition {
    return {
      sequence: this.#sequence,
      branches: this.#branches,
      retired: this.#retired,
      revocations: this.#revoked.length,
      hashAt: (sequence) => (sequence === this.#sequence ? this.#hash : this.past.hashAt(sequence)),
    };
  }

  get tasks(): readonly AuthorityTask[] {
    return [...this.#tasks.values()];
  }

  /** The policy in its first term, and every term that is known. */
  line(id: TaskId): Line | undefined {
    const [policy, task] = [this.#policies.get(toHex(id)), this.task(id)];
    if (policy === undefined || task === undefined) return undefined;
    return { policy, terms: [...task.terms, ...(task.next === undefined ? [] : [task.next])] };
  }

  task(id: TaskId): AuthorityTask | undefined {
    return this.#tasks.get(toHex(id));
  }

  device(user: UserId): EnrolledDevice | undefined {
    return this.#devices.get(toHex(user));
  }

  get openBuffers(): readonly AuthorityBuffer[] {
    return [...this.#open.values()];
  }

  get openCount(): number {
    return this.#open.size;
  }

  isOpen(ctx: Ctx): boolean {
    return this.#open.has(toHex(ctx));
  }

  buffer(ctx: Ctx): AuthorityBuffer | undefined {
    return this.#open.get(toHex(ctx)) ?? this.#pastBuffer(this.past.named(ctx));
  }

  /** The buffer of these records, starting with the record that drew it. Undefined if there are no records. */
  #pastBuffer([drawn, ...later]: readonly AuthorityRecord[]): AuthorityBuffer | undefined {
    if (drawn?.kind !== 'buffer-drawn') return undefined;
    const { descriptor } = drawn;
    const { suite } = this.#ports;
    const policy = this.#policyOf(descriptor.task);
    const buffer = later.reduce(evolveBuffer, drawnBuffer(suite, policy, descriptor));
    if (buffer.status === 'aborted' && !this.ofBranch(buffer.ctx).some(({ kind }) => kind === 'buffer-aborted'))
      return { ...buffer, status: 'unknown' };
    const isOfTerm = policy.term === undefined || hasGoodEndorsements(suite, descriptorCodec, policy, descriptor);
    if (isOfTerm || buffer.version !== undefined || buffer.status !== 'closed') return buffer;
    const { closed: _, ...rest } = buffer; // its sum made no version in the term in which it was closed
    return { ...rest, status: 'unknown' };
  }

  /** True if a batch with this list was voted for in an earlier term, and made no version there: it was given up. */
  isGivenUp({ batch, members }: BatchList): boolean {
    const { suite, signer } = this.#ports;
    const { policy } = this.task(batch.task) ?? {};
    if (policy?.term === undefined || this.#versionOf(this.past.named(batchCtxOf(suite, batch))) !== undefined)
      return false;
    return members.some(({ statement }) => {
      const opened = this.past.named(statement).find((entry) => entry.kind === 'epoch-opened');
      return opened === undefined || !isSignedInTerm(suite, epochCodec, policy, opened.epoch, signer.publicKey);
    });
  }

  #versionOf(records: readonly AuthorityRecord[]): number | undefined {
    return records.find((entry) => entry.kind === 'model-appended')?.entry.version;
  }

  /** For a task that a descriptor in the log names: this authority signs descriptors only of the tasks that it has. */
  #policyOf(task: TaskId): TaskPolicy {
    const known = this.task(task);
    if (known === undefined) throw new Error('the log has a buffer of a task that is not in it');
    return known.policy;
  }

  /** The known state of a batch of the one-shot mode. */
  batch(ctx: Ctx): AuthorityBatch | undefined {
    return batchOf(this.past.named(ctx));
  }

  /** A sum that a version of the model may be made of. */
  sum(ctx: Ctx): KnownSum | undefined {
    const buffer = this.buffer(ctx);
    if (buffer !== undefined) {
      const { descriptor, voted, status, version } = buffer;
      return { task: descriptor.task, voted, isClosed: status === 'closed', version };
    }
    const records = this.past.named(ctx);
    const used = records.find((entry) => entry.kind === 'model-appended')?.entry;
    const batch = batchOf(records);
    const task = batch?.list.batch.task ?? used?.task;
    if (task === undefined) return undefined;
    const voted = batch?.isVoted ? ctx : undefined;
    const isClosed = batch?.isFinal === true && !this.isGivenUp(batch.list);
    return { task, voted, isClosed, version: used?.version };
  }

  model(task: TaskId, version: number): ModelEntry | undefined {
    const found = this.past.named(modelName(task, version)).at(-1); // signed again in a later term
    return found?.kind === 'model-appended' ? found.entry : undefined;
  }

  /** The record is durable, and true from now on. */
  apply(entry: AuthorityRecord): void {
    const { suite } = this.#ports;
    this.#sequence++;
    this.#hash = nextLogHash(suite, this.#hash, entry);
    this.past.add?.(entry, this.#hash);
    switch (entry.kind) {
      case 'task-created': {
        const id = taskIdOf(suite, entry.policy);
        this.#tasks.set(toHex(id), { id, policy: entry.policy, terms: [] });
        this.#policies.set(toHex(id), entry.policy);
        return;
      }
      case 'device-enrolled': {
        const { certificate } = entry;
        const name = toHex(userIdOf(suite, certificate.deviceKey));
        // One name object of the task for all of its devices, because there may be millions.
        const task = this.#tasks.get(toHex(certificate.task))?.id ?? certificate.task;
        this.#devices.set(name, withCertificate(suite, this.#devices.get(name), { ...certificate, task }));
        return;
      }
      case 'device-revoked': {
        const tasks = this.tasks.filter(admitsByOthers).map(({ id }) => id);
        const device = this.#devices.get(toHex(entry.user)) ?? { user: entry.user, tasks };
        const revoked = { ...device, revoked: true, revokedAt: entry.at };
        this.#devices.set(toHex(entry.user), revoked);
        this.#revoked.push(revoked);
        return;
      }
      case 'buffer-drawn': {
        const buffer = drawnBuffer(suite, this.#policyOf(entry.descriptor.task), entry.descriptor);
        this.#open.set(toHex(buffer.ctx), buffer);
        this.#offers.use(ownPart(this.#ports.signer.publicKey, buffer.descriptor));
        return;
      }
      case 'model-appended': {
        const name = toHex(entry.entry.task);
        const before = this.#tasks.get(name);
        if (before !== undefined) this.#tasks.set(name, withNewest(before, entry.entry));
        // A closed buffer is only in the log. This now includes a buffer that the others closed while this authority was down.
        for (const ctx of [...entry.entry.sums, ...entry.entry.spoilt]) this.#evolve(ctx, entry);
        return;
      }
      case 'model-signed': {
        const name = toHex(entry.entry.task);
        const before = this.#tasks.get(name);
        if (before !== undefined) this.#tasks.set(name, { ...before, signed: entry.entry });
        return;
      }
      case 'epoch-opened':
      case 'epoch-ended':
      case 'upload-expired':
        this.#epochs.apply(entry);
        return;
      case 'batch-voted':
      case 'batch-final': {
        this.#epochs.apply(entry);
        const task = entry.list && this.#tasks.get(toHex(entry.list.batch.task));
        if (task !== undefined && entry.list !== undefined) this.#inclusions.noteBatch(task, entry.list.members);
        return;
      }
      case 'branch-begun':
        this.#branches.push(entry.branch);
        this.#branchStart = this.#sequence;
        this.#branchedAt = this.#epochs.at(millis(0));
        for (const [name, task] of this.#tasks) this.#tasks.set(name, inNewBranch(task));
        this.#retired.push(...entry.met.map(({ branch }) => branch));
        return;
      case 'term-signed':
      case 'term-adopted':
      case 'term-begun': {
        const name = toHex(entry.kind === 'term-adopted' ? entry.term.task : entry.task);
        const before = this.#tasks.get(name);
        if (before !== undefined) this.#tasks.set(name, evolveTerm(suite, before, entry));
        return;
      }
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
