/** One running task of a server: its models, its seats, its buffers, and its end. */
import { equalBytes, toHex } from '@basa/masking';
import {
  type Certificate,
  type Ctx,
  type EnrolledFor,
  type SecureBuffer,
  type ServerPorts,
  type ShotBatch,
  type TaskId,
  type TaskPolicy,
  type UserId,
  userIdOf,
} from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { fail } from '@basa/service';
import { Entrance } from '../admission/entrance.ts';
import { SuspicionWatch } from '../admission/suspicion-watch.ts';
import { TaskAdmission } from '../admission/task-admission.ts';
import { type Tuned, Tuning } from '../admission/tuning.ts';
import { Evaluation } from '../closing/evaluation.ts';
import { ModelKeeper } from '../closing/model-keeper.ts';
import type { ReadTask } from '../specification/task-specification.ts';
import { isEnded } from '../store/buffers.ts';
import type { StoredTask, TaskState } from '../store/tasks.ts';
import { modeOf, type TaskMode } from './modes.ts';
import { PaperTask } from './paper-task.ts';
import { StoredBytes } from './stored-bytes.ts';
import type { TaskTools } from './task-tools.ts';
import { lineOf } from './terms.ts';
import { Upkeep } from './upkeep.ts';

const PAUSE_MS = 30_000;
/** The time before another term in which no place is given. */
const QUIET_MS = 60_000;

export class RunningTask {
  readonly task: TaskId;
  readonly read: ReadTask;
  readonly models: ModelKeeper;
  readonly admission: TaskAdmission;
  readonly entrance: Entrance;
  readonly suspicion: SuspicionWatch;
  readonly evaluation: Evaluation;
  readonly stored: StoredBytes;
  readonly mode: TaskMode;
  /** Set for a task in the paper's mode. */
  readonly paper: PaperTask | undefined;
  /** The store's time at which it was created. */
  readonly createdAt: number;
  readonly #tools: TaskTools;
  readonly #tuning: Tuning;
  readonly #upkeep: Upkeep;
  readonly #living = new Map<string, Ctx>();
  /** The time of the last upload of a buffer, and the number of uploads then, on this node's clock. */
  readonly #lastUploads = new Map<string, { readonly at: number; readonly uploads: number }>();
  #nextTermAt: number | undefined;
  #state: TaskState;
  #why: string | undefined;

  constructor(stored: StoredTask, read: ReadTask, tools: TaskTools) {
    const { task } = stored;
    this.task = task;
    this.read = read;
    this.#tools = tools;
    this.createdAt = stored.createdAt;
    this.#state = stored.state;
    this.#why = stored.why;
    const { policy } = read;
    const authorities = tools.authorities.of(task, policy, async () => (await lineOf(tools.store, task, policy)).terms);
    this.models = new ModelKeeper({ ...tools, authorities, task, read });
    const { models } = this;
    this.stored = new StoredBytes({ ...tools, task, policy: read.policy, models });
    this.evaluation = new Evaluation({ ...tools, task, read, models });
    const onIncluded = async (): Promise<void> => {
      this.meetVersion();
      tools.nodes.tell.task(task);
      await this.#upkeep.review();
    };
    this.paper =
      read.mode === 'paper'
        ? new PaperTask({ tools, name: toHex(task), read, models, onModel: onIncluded })
        : undefined;
    this.#tuning = new Tuning({ seatMs: tools.seatMs, bufferSize: read.policy.bufferSize });
    this.suspicion = new SuspicionWatch({ task, store: tools.store });
    this.admission = new TaskAdmission({
      ...tools,
      ...read.admission,
      task,
      jitter: () => (nodeRandomBytes(1)[0] as number) / 256,
      uploadLeaseMs: read.policy.uploadLeaseMs,
    });
    const { admission, suspicion } = this;
    const tuning = this.#tuning;
    const checkRunning = (): Promise<void> => this.#checkRunningNow();
    const entrance = { ...tools, task, policy: read.policy, authorities, models, tuning, admission, suspicion };
    this.entrance = new Entrance({ ...entrance, checkRunning });
    this.mode = modeOf({
      tools,
      task,
      read,
      authorities,
      models,
      admission,
      idleMs: (ctx) => tools.clock() - this.#lastUpload(ctx),
      onIncluded,
      onEnded: (ctx) => this.#forget(ctx),
    });
    this.#upkeep = new Upkeep(this, tools, authorities);
  }

  /** The tools of the protocol, with the server's key in the current term. */
  get ports(): ServerPorts {
    return this.#tools.ports;
  }

  /** False if the server's key was lost, until the term begins that names another one. */
  get #hasKey(): boolean {
    return equalBytes(this.ports.signer.publicKey, this.read.policy.serverKey);
  }

  /** The requirements on certificates of its devices. */
  get enrolledFor(): EnrolledFor & Pick<TaskPolicy, 'serverKey'> {
    return { ...this.read.policy, task: this.task };
  }

  get state(): TaskState {
    return this.#state;
  }

  get why(): string | undefined {
    return this.#why;
  }

  isLiving(ctx: Ctx): boolean {
    return this.#living.has(toHex(ctx));
  }

  /** Buffers that have not ended. */
  get living(): readonly Ctx[] {
    return [...this.#living.values()];
  }

  /** The number of buffers about which something is remembered. */
  get held(): number {
    return new Set([...this.#living.keys(), ...this.#lastUploads.keys()]).size;
  }

  async setState(state: TaskState, why?: string): Promise<void> {
    await this.#tools.store.setTaskState(this.task, state, why);
    this.#state = state;
    this.#why = why;
    this.#tools.nodes.tell.task(this.task);
  }

  /** Applies the store's state, which another node may have changed. */
  meet({ state, why }: Pick<StoredTask, 'state' | 'why'>): void {
    this.#state = state;
    this.#why = why;
  }

  /** Admits devices for the newest version. */
  meetVersion(): void {
    if (this.models.newest !== undefined) this.admission.meetVersion(this.models.newest);
  }

  /** The time at which the next term begins, if one is known. */
  expectTerm(at: number | undefined): void {
    this.#nextTermAt = at;
  }

  /** Shortly before another term no new work begins, because it would be given up. */
  #checkTerm(): void {
    const leftMs = (this.#nextTermAt ?? Number.POSITIVE_INFINITY) - this.#tools.clock();
    const quietMs = Math.min(QUIET_MS, (this.read.policy.succession?.waitMs ?? 0) / 2);
    if (leftMs < quietMs)
      fail('task-paused', { detail: 'a key is being replaced', retryAfterMs: Math.max(1000, leftMs) });
    if (!this.#hasKey)
      fail('task-paused', { detail: 'this server does not have the key of the task', retryAfterMs: PAUSE_MS });
  }

  /** Refuses new seats in a task that is paused, has reached its end, or has used up its storage. */
  checkRunning(): void {
    this.#checkTerm();
    if (this.#state === 'paused') fail('task-paused', { retryAfterMs: PAUSE_MS });
    if (this.#state === 'finished') fail('task-finished', this.#why === undefined ? {} : { detail: this.#why });
    this.stored.check();
  }

  /** Another node may have paused, resumed or ended it. */
  async #checkRunningNow(): Promise<void> {
    const { store, nodes } = this.#tools;
    const known = { state: this.#state, ...(this.#why !== undefined && { why: this.#why }) };
    const now = await nodes.upToDate(known, async () => (await store.taskState(this.task)) ?? known);
    this.meet(now);
    this.checkRunning();
  }

  /** The values learned from arrivals. */
  get tuned(): Tuned {
    return this.#tuning.at(this.#tools.clock());
  }

  /** A device used its ticket: its place is now counted in the buffer. */
  deposited({ deviceKey }: Certificate, ctx: Ctx): void {
    const user = this.#userOf(deviceKey);
    this.#tuning.deposited(user, this.#tools.clock());
    this.admission.deposited(user, ctx);
  }

  /**
   * Before a device fetches a model: returns its place, or when to ask again. `unused`: slots and places it left
   * unused.
   */
  async admit({ deviceKey }: Certificate, unused: number): Promise<{ readonly leftMs: number }> {
    this.checkRunning();
    const answer = await this.admission.ask(this.#userOf(deviceKey), unused);
    if (answer.kind === 'later') fail('no-place', { detail: answer.why, retryAfterMs: answer.retryAfterMs });
    return answer;
  }

  #userOf(deviceKey: Uint8Array): UserId {
    return userIdOf(this.#tools.ports.suite, deviceKey);
  }

  /** Takes note of a buffer that was read or changed. */
  track(buffer: SecureBuffer): void {
    const name = toHex(buffer.ctx);
    if (!isEnded(buffer.status)) {
      this.#living.set(name, buffer.ctx);
      const uploads = buffer.slots.filter(({ status }) => status === 'accepted').length;
      if (uploads > (this.#lastUploads.get(name)?.uploads ?? 0))
        this.#lastUploads.set(name, { at: this.#tools.clock(), uploads });
    } else this.#endedElsewhere(buffer.ctx);
    this.admission.track(buffer);
  }

  trackBatch(batch: ShotBatch): void {
    if (!isEnded(batch.status)) this.#living.set(toHex(batch.ctx), batch.ctx);
    else this.#endedElsewhere(batch.ctx);
    this.admission.trackBatch(batch);
  }

  /** The node with the lease cleans up. */
  #endedElsewhere(ctx: Ctx): void {
    if (!this.#tools.nodes.leases.has(this.task)) this.#forget(ctx);
  }

  /** An upload was accepted, on this or another node: it may have been the last one. */
  uploaded(ctx: Ctx): void {
    this.#upkeep.uploaded(ctx);
  }

  /** Looks after everything; an error in one thing does not keep it from the next. */
  tick(): Promise<void> {
    return this.#upkeep.tick();
  }

  /** Begins nothing more, and waits for work under way: another one takes its place. */
  end(): Promise<void> {
    return this.#upkeep.end();
  }

  /** Waits for work under way. */
  settle(): Promise<void> {
    return this.#upkeep.settle();
  }

  /** After a restart, waiting starts again. */
  #lastUpload(ctx: Ctx): number {
    const seen = this.#lastUploads.get(toHex(ctx)) ?? { at: this.#tools.clock(), uploads: 0 };
    this.#lastUploads.set(toHex(ctx), seen);
    return seen.at;
  }

  #forget(ctx: Ctx): void {
    this.#living.delete(toHex(ctx));
    this.#lastUploads.delete(toHex(ctx));
  }
}
