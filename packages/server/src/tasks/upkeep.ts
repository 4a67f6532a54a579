/** Looks after a running task, now and then and after uploads: its models, places, sums and end. */
import { toHex } from '@basa/masking';
import type { Ctx } from '@basa/protocol';
import type { TaskAdmission } from '../admission/task-admission.ts';
import { Backoff } from '../authority/backoff.ts';
import type { Evaluation } from '../closing/evaluation.ts';
import type { ModelKeeper } from '../closing/model-keeper.ts';
import type { ReadTask } from '../specification/task-specification.ts';
import type { StoredTask, TaskState } from '../store/tasks.ts';
import type { TaskMode } from './modes.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { OneByOne } from './one-by-one.ts';
import { stopReason } from './stop.ts';
import type { StoredBytes } from './stored-bytes.ts';
import type { TaskTools } from './task-tools.ts';

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
