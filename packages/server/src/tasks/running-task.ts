/** One running task of a server: its models, its places, its batches, and its end. */
import { toHex } from '@basa/masking';
import type { Ctx, ShotBatch, TaskId, UserId } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { fail } from '@basa/service';
import { TaskAdmission } from '../admission/task-admission.ts';
import { Evaluation } from '../closing/evaluation.ts';
import { ModelKeeper } from '../closing/model-keeper.ts';
import type { ReadTask } from '../specification/task-specification.ts';
import { WindowKeeper } from '../statistics/window-keeper.ts';
import { isEnded } from '../store/batches.ts';
import type { StoredTask, TaskState } from '../store/tasks.ts';
import { modeOf, type TaskMode } from './modes.ts';
import { StoredBytes } from './stored-bytes.ts';
import type { TaskTools } from './task-tools.ts';
import { Upkeep } from './upkeep.ts';

const PAUSE_MS = 30_000;
export class RunningTask {
  readonly task: TaskId;
  readonly read: ReadTask;
  readonly models: ModelKeeper;
  readonly admission: TaskAdmission;
  readonly evaluation: Evaluation;
  readonly stored: StoredBytes;
  readonly mode: TaskMode;
  /** The store's time at which it was created. */
  readonly createdAt: number;
  readonly #tools: TaskTools;
  readonly #upkeep: Upkeep;
  readonly #living = new Map<string, Ctx>();
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
    const authorities = tools.authorities.of(task, policy);
    const { statistics } = read.policy;
    this.models =
      statistics === undefined
        ? new ModelKeeper({ ...tools, task, read })
        : new WindowKeeper({ ...tools, task, read, statistics });
    const { models } = this;
    this.stored = new StoredBytes({ ...tools, task, policy: read.policy, models });
    this.evaluation = new Evaluation({ ...tools, task, read, models });
    const onIncluded = async (): Promise<void> => {
      this.meetVersion();
      tools.nodes.tell.task(task);
      await this.#upkeep.review();
    };
    this.admission = new TaskAdmission({
      ...tools,
      ...read.admission,
      task,
      jitter: () => (nodeRandomBytes(1)[0] as number) / 256,
      uploadLeaseMs: read.policy.uploadLeaseMs,
    });
    const { admission } = this;
    this.mode = modeOf({
      tools,
      task,
      read,
      authorities,
      models,
      admission,
      onIncluded,
      onEnded: (ctx) => this.#forget(ctx),
    });
    this.#upkeep = new Upkeep(this, tools);
  }

  /** True if everybody may read its models and results. */
  get hasPublicModels(): boolean {
    return this.read.specification.publicModels === true;
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

  /** Batches that have not ended. */
  get living(): readonly Ctx[] {
    return [...this.#living.values()];
  }

  /** The number of batches about which something is remembered. */
  get held(): number {
    return this.#living.size;
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

  /** Refuses new devices and uploads in a task that is paused, has reached its end, or has used up its storage. */
  checkRunning(): void {
    if (this.#state === 'paused') fail('task-paused', { retryAfterMs: PAUSE_MS });
    if (this.#state === 'finished') fail('task-finished', this.#why === undefined ? {} : { detail: this.#why });
    this.stored.check();
  }

  /** Before a device fetches a model: returns its place, or when to ask again. */
  async admit(user: UserId): Promise<{ readonly leftMs: number }> {
    this.checkRunning();
    const answer = await this.admission.ask(user);
    if (answer.kind === 'later') fail('no-place', { detail: answer.why, retryAfterMs: answer.retryAfterMs });
    return answer;
  }

  /** Takes note of a batch that was read or changed. */
  track(batch: ShotBatch): void {
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

  #forget(ctx: Ctx): void {
    this.#living.delete(toHex(ctx));
  }
}
