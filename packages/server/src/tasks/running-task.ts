/** One running task of a server: its models, its places, its batches, its upkeep and its end. */

import { setTimeout as sleep } from 'node:timers/promises';
import { toHex } from '@basa/masking';
import { type Ctx, SCORES, type Scores, type ShotBatch, type TaskId, type UserId } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { fail } from '@basa/service';
import { TaskAdmission } from '../admission/task-admission.ts';
import { Backoff } from '../authority/gather.ts';
import { Evaluation } from '../closing/evaluation.ts';
import { ModelKeeper } from '../closing/model-keeper.ts';
import type { ReadTask, TaskSpecification } from '../specification/task-specification.ts';
import { WindowKeeper } from '../statistics/windows.ts';
import { isEnded } from '../store/batches.ts';
import type { StoredModel } from '../store/models.ts';
import type { StoredTask, TaskState } from '../store/tasks.ts';
import { modeOf, type TaskMode } from './modes.ts';
import { StoredBytes } from './stored-bytes.ts';
import type { TaskTools } from './task-tools.ts';

const PAUSE_MS = 30_000;
/** One running task of a server: its models, its places, its batches, and its end. */
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

/** While uploads come close together, gathering them takes at most a quarter of the time. */
const REST_SHARE = 3;

/** The running task. */
export interface Running extends Pick<StoredTask, 'task' | 'createdAt'> {
  readonly read: ReadTask;
  readonly models: ModelKeeper;
  readonly admission: TaskAdmission;
  readonly evaluation: Evaluation;
  readonly stored: StoredBytes;
  readonly mode: TaskMode;
  readonly state: TaskState;
  /** Batches that have not ended. */
  readonly living: readonly Ctx[];
  isLiving(ctx: Ctx): boolean;
  meetVersion(): void;
  setState(state: TaskState, why?: string): Promise<void>;
}

/** Looks after a running task, now and then and after uploads: its models, places, sums and end. */
export class Upkeep {
  readonly #running: Running;
  readonly #tools: TaskTools;
  readonly #gathering: OneAtATime;
  readonly #backoff: Backoff;
  /** Batches of a task end one after the other, because each version follows the one before. */
  readonly #attending = new OneByOne();
  #listening: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(running: Running, tools: TaskTools) {
    const { task, mode } = running;
    this.#running = running;
    this.#tools = tools;
    this.#backoff = new Backoff(tools.clock);
    const gather = (): Promise<void> =>
      this.#tried('uploads could not be gathered', () => mode.look((work) => tools.nodes.leases.under(task, work)));
    this.#gathering = new OneAtATime(gather, { restShare: REST_SHARE });
  }

  /** An upload was accepted, on this or another node: it may have been the last one. */
  uploaded(ctx: Ctx): void {
    if (this.#running.isLiving(ctx)) void this.#attendIfDue([ctx]);
    else void this.#gathering.run().then(() => this.#attendIfDue(this.#running.living));
  }

  /** Takes a batch as far as possible; errors are reported and tried again at the next look. */
  #attend(ctx: Ctx): Promise<void> {
    const { leases } = this.#tools.nodes;
    return this.#attending.run(toHex(ctx), async () => {
      if (this.#isOver || !this.#running.isLiving(ctx)) return;
      await this.#tried('a batch could not be ended', () =>
        leases.under(this.#running.task, (fence) => this.#running.mode.attend(ctx, fence)),
      );
    });
  }

  /** Looks after everything; an error in one thing does not keep it from the next. */
  async tick(): Promise<void> {
    const { task, read, models, mode, admission, stored } = this.#running;
    const { policy, specification } = read;
    const { leases } = this.#tools.nodes;
    if (models.newest === undefined) await this.#tried('the first model is not logged', () => this.#openModels());
    await this.#tried('the periodic work of its mode failed', () => mode.tick((work) => leases.under(task, work)));
    await this.#tried('places could not be updated', () => admission.look());
    await this.#tried('the stored bytes could not be counted', () => stored.look());
    this.#running.meetVersion();
    // Not awaited here: the slowest authority delays nothing.
    this.#listening = this.#tried('the statements of the authorities could not be read', () => mode.listen());
    await this.#gathering.run();
    await this.#attendIfDue(this.#running.living);
    const isNeverEvaluated = specification.model === undefined || policy.training.loss === 'own';
    const isEvaluated = isNeverEvaluated || models.newest?.loss !== undefined;
    if (this.#running.state === 'finished' && isEvaluated) return;
    await this.#tried('the periodic work of the task failed', () => leases.under(task, () => this.review()));
  }

  async #openModels(): Promise<void> {
    if (!this.#backoff.isDue('models')) return;
    this.#backoff.failed('models'); // unless it is logged
    await this.#running.models.open();
    this.#backoff.over('models');
  }

  async #attendIfDue(batches: readonly Ctx[]): Promise<void> {
    await this.#tried('the periodic work on batches failed', async () => {
      await Promise.all(this.#running.mode.due(batches).map((ctx) => this.#attend(ctx)));
    });
  }

  /** Begins nothing more, and waits for work under way: another one takes its place. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.settle();
  }

  /** Waits for work under way. */
  async settle(): Promise<void> {
    await this.#listening;
    await this.#gathering.settle();
    await this.#attending.settle();
  }

  /** Evaluates the newest version and ends the task if it has reached its goal, also after a crash in between. */
  async review(): Promise<void> {
    const { read, models, evaluation, createdAt } = this.#running;
    await this.#tried('the newest model could not be evaluated', () => evaluation.catchUp());
    if (this.#running.state === 'finished') return;
    const ageMs = (await this.#tools.store.now()) - createdAt;
    const why = stopReason(read.specification.stop ?? {}, models.newest, ageMs);
    if (why !== undefined)
      await this.#tried('the task could not be ended', () => this.#running.setState('finished', why));
  }

  async #tried(trouble: string, work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => this.#tools.onTrouble(trouble, error));
  }
}

/** However long the work took. */
const LONGEST_REST_MS = 200;

/** Work that runs once at a time. A request while it runs makes it run once more, because the first run may miss new data. */
export class OneAtATime {
  readonly #work: () => Promise<void>;
  readonly #restShare: number;
  #last: Promise<void> = Promise.resolve();
  /** Requested, but not started yet. */
  #next: Promise<void> | undefined;
  #restsUntil = 0;

  /**
   * `work` never rejects. `restShare`: after each run, the next one waits for this multiple of its duration, so that requests that arrive
   * close together share one run. After a quiet time, work starts immediately.
   */
  constructor(work: () => Promise<void>, { restShare = 0 }: { readonly restShare?: number } = {}) {
    this.#work = work;
    this.#restShare = restShare;
  }

  /** Resolves when everything that is new now has been processed. */
  run(): Promise<void> {
    this.#next ??= this.#last.then(() => this.#once());
    this.#last = this.#next;
    return this.#last;
  }

  /** Waits for work under way. */
  settle(): Promise<void> {
    return this.#last;
  }

  async #once(): Promise<void> {
    const restMs = this.#restsUntil - performance.now();
    if (restMs > 0) await sleep(restMs);
    this.#next = undefined;
    const began = performance.now();
    await this.#work();
    const ended = performance.now();
    this.#restsUntil = ended + Math.min(LONGEST_REST_MS, this.#restShare * (ended - began));
  }
}

/**
 * Different pieces of work, one after the other. Work that still waits is not queued again under the same name: otherwise a slow service
 * would be asked more and more often, and would become even slower.
 */
export class OneByOne {
  readonly #waiting = new Map<string, Promise<void>>();
  #last: Promise<void> = Promise.resolve();

  /** `work` never rejects. */
  run(name: string, work: () => Promise<void>): Promise<void> {
    const waiting = this.#waiting.get(name);
    if (waiting !== undefined) return waiting;
    this.#last = this.#last.then(() => {
      this.#waiting.delete(name);
      return work();
    });
    this.#waiting.set(name, this.#last);
    return this.#last;
  }

  /** Waits for work under way. */
  settle(): Promise<void> {
    return this.#last;
  }
}

/** The reason why a task has reached its end (docs/http.md), as a sentence; undefined while it continues. */
function stopReason(
  { version, afterMs, ...wanted }: NonNullable<TaskSpecification['stop']>,
  newest: Pick<StoredModel, 'version' | keyof Scores> | undefined,
  ageMs: number,
): string | undefined {
  for (const name of SCORES) {
    const [goal, value] = [wanted[name], newest?.[name]];
    if (goal !== undefined && value !== undefined && value >= goal)
      return `${name} ${value.toFixed(4)} reached at version ${newest?.version}`;
  }
  if (version !== undefined && newest !== undefined && newest.version >= version)
    return `version ${newest.version} reached`;
  return afterMs !== undefined && ageMs >= afterMs ? `the time limit of ${afterMs} ms is over` : undefined;
}
