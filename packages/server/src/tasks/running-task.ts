/** One running task of a server: its models, its places, its batches, its upkeep and its end. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskId, UserId } from '@basa/protocol';
import { Live } from '@basa/protocol/http';
import { fail } from '@basa/service';
import { TaskAdmission } from '../admission/task-admission.ts';
import { Backoff } from '../authority/gather.ts';
import { Evaluation } from '../closing/evaluation.ts';
import { ModelKeeper } from '../closing/model-keeper.ts';
import type { ServerTools } from '../shots/context.ts';
import type { ReadTask, TaskSpecification } from '../specification/task-specification.ts';
import { WindowKeeper } from '../statistics/windows.ts';
import type { BatchRow } from '../store/batches.ts';
import type { StoredModel } from '../store/models.ts';
import type { Fence } from '../store/sql.ts';
import type { StoredTask, TaskState } from '../store/tasks.ts';
import { modeOf, type TaskMode } from './modes.ts';
import { StoredBytes } from './stored-bytes.ts';

const PAUSE_MS = 30_000;
/** While uploads come close together, gathering them takes at most a quarter of the time. */
const REST_SHARE = 3;

export class RunningTask {
  readonly task: TaskId;
  readonly read: ReadTask;
  readonly models: ModelKeeper;
  readonly admission: TaskAdmission;
  readonly evaluation: Evaluation;
  readonly stored: StoredBytes;
  readonly mode: TaskMode;
  /** Batches that have not ended, as of the last look of this node. */
  open: readonly BatchRow[] = [];
  /** The store's time at which it was created. */
  readonly #createdAt: number;
  readonly #tools: ServerTools;
  readonly #gathering: OneAtATime;
  /** Batches of a task end one after the other, because each version follows the one before. */
  readonly #closing: OneAtATime;
  readonly #backoff: Backoff;
  #listening: Promise<void> = Promise.resolve();
  #state: TaskState;
  #why: string | undefined;

  constructor(stored: StoredTask, read: ReadTask, tools: ServerTools) {
    const { task } = stored;
    const { policy } = read;
    this.task = task;
    this.read = read;
    this.#tools = tools;
    this.#createdAt = stored.createdAt;
    this.#state = stored.state;
    this.#why = stored.why;
    const own = { ...tools, task, read, policy };
    this.models =
      policy.statistics === undefined ? new ModelKeeper(own) : new WindowKeeper(own, policy.statistics, tools.clock);
    const { models } = this;
    const onIncluded = async (): Promise<void> => {
      tools.nodes.tell('task', task);
      await this.#review();
    };
    const context = { ...own, models, onIncluded };
    this.stored = new StoredBytes(context);
    this.evaluation = new Evaluation(context);
    const newest = (): number => models.newest?.version ?? -1;
    this.admission = new TaskAdmission({ ...context, numbers: read.admission, newest });
    this.mode = modeOf(context, this.admission);
    this.#backoff = new Backoff(tools.clock);
    this.#gathering = new OneAtATime(() => this.#gather(), { restShare: REST_SHARE });
    this.#closing = new OneAtATime(() => this.#closeOpen());
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

  async setState(state: TaskState, why?: string): Promise<void> {
    await this.#tools.store.setTaskState(this.task, state, why);
    this.meet({ state, why });
    this.#tools.nodes.tell('task', this.task);
  }

  /** Applies the store's state, which another node may have changed. */
  meet({ state, why }: Pick<StoredTask, 'state' | 'why'>): void {
    this.#state = state;
    this.#why = why;
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
    if (answer.kind === 'place') return answer;
    const { why: detail, retryAfterMs, gathering } = answer;
    return fail('no-place', { detail, retryAfterMs, ...(gathering !== undefined && { gathering }) });
  }

  /** An upload was accepted: it may have been the last one. */
  uploaded(): void {
    void this.#gathering.run().then(() => this.#closing.run());
  }

  /** The same on another node: this one may have to make a batch of it. */
  uploadedElsewhere(): void {
    if (this.#tools.nodes.leases.has(this.task)) this.uploaded();
  }

  /** Looks after everything; an error in one thing does not keep it from the next. */
  async tick(): Promise<void> {
    const { models, mode, admission, stored, read } = this;
    if (models.newest === undefined) await this.#tried('the first model is not logged', () => this.#openModels());
    await this.#tried('the paper mode could not be looked after', async () => mode.paper?.tick());
    await this.#tried('a model could not be repeated', () => this.#repeat());
    await this.#tried('places could not be updated', () => admission.look());
    await this.#tried('the stored bytes could not be counted', () => stored.look());
    // Not awaited here: the slowest authority delays nothing.
    this.#listening = this.#tried('the statements of the authorities could not be read', async () => {
      await mode.statistics?.look();
      await mode.shots?.epochs.look();
    });
    await this.#gathering.run();
    await this.#closing.run();
    const isNeverEvaluated = read.specification.model === undefined || read.policy.training.loss === 'own';
    const isEvaluated = isNeverEvaluated || models.newest?.loss !== undefined;
    if (this.#state === 'finished' && isEvaluated) return;
    await this.#tried('the periodic work of the task failed', () => this.#under(() => this.#review()));
  }

  /** Waits for work under way. */
  async settle(): Promise<void> {
    await this.#listening;
    await this.#gathering.settle();
    await this.#closing.settle();
  }

  #gather(): Promise<void> {
    const { shots } = this.mode;
    return this.#tried('uploads could not be gathered', async () => {
      if (shots === undefined) return;
      await this.#under((fence) => shots.look(fence));
      // What people are shown must not wait for a batch that is being opened.
      await this.admission.look();
      this.open = await this.#tools.store.openBatches(this.task);
    });
  }

  /** Takes each open batch as far as possible; errors are reported and tried again at the next look. */
  async #closeOpen(): Promise<void> {
    const { closer } = this.mode;
    if (closer === undefined) return;
    await this.#tried('the periodic work on batches failed', async () => {
      this.open = await this.#tools.store.openBatches(this.task);
      for (const ctx of closer.due(this.open))
        await this.#tried('a batch could not be ended', () => this.#under((fence) => closer.attend(ctx, fence)));
    });
  }

  async #openModels(): Promise<void> {
    if (!this.#backoff.isDue('models')) return;
    this.#backoff.failed('models'); // unless it is logged
    await this.models.open();
    this.#backoff.over('models');
  }

  async #repeat(): Promise<void> {
    const { repeats } = this.mode;
    if (repeats !== undefined && (await repeats.isDue())) await this.#under((fence) => repeats.repeat(fence));
  }

  /** Evaluates the newest version and ends the task if it has reached its goal, also after a crash in between. */
  async #review(): Promise<void> {
    await this.#tried('the newest model could not be evaluated', () => this.evaluation.catchUp());
    if (this.#state === 'finished') return;
    const ageMs = (await this.#tools.store.now()) - this.#createdAt;
    const why = stopReason(this.read.specification.stop ?? {}, this.models.newest, ageMs);
    if (why !== undefined) await this.#tried('the task could not be ended', () => this.setState('finished', why));
  }

  #under(work: (fence: Fence) => Promise<void>): Promise<void> {
    return this.#tools.nodes.leases.under(this.task, work);
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

/** The reason why a task has reached its end (docs/http.md), as a sentence; undefined while it continues. */
function stopReason(
  { version, afterMs, ...wanted }: NonNullable<TaskSpecification['stop']>,
  newest: Pick<StoredModel, 'version' | keyof Live.Scores> | undefined,
  ageMs: number,
): string | undefined {
  for (const name of Live.SCORES) {
    const [goal, value] = [wanted[name], newest?.[name]];
    if (goal !== undefined && value !== undefined && value >= goal)
      return `${name} ${value.toFixed(4)} reached at version ${newest?.version}`;
  }
  if (version !== undefined && newest !== undefined && newest.version >= version)
    return `version ${newest.version} reached`;
  return afterMs !== undefined && ageMs >= afterMs ? `the time limit of ${afterMs} ms is over` : undefined;
}
