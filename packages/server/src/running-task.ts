/** One task of a server at work: its models, its seats, its buffers, and when it ends. */
import { toHex } from '@basa/masking';
import type { Ctx, SecureBuffer, TaskId } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { AuthorityUnreachable } from './authority-link.ts';
import { bodiesOf, bodiesOfSlot } from './body-key.ts';
import { Closer } from './closer.ts';
import { Evaluation } from './evaluation.ts';
import { ModelKeeper } from './model-keeper.ts';
import { PaperTask } from './paper-task.ts';
import { Seats } from './seats.ts';
import { stopReason } from './stop.ts';
import type { StoredTask, TaskState } from './store/store.ts';
import { isEnded } from './store/store.ts';
import type { ReadTask } from './task-specification.ts';
import type { TaskTools } from './task-tools.ts';

export class RunningTask {
  readonly task: TaskId;
  readonly read: ReadTask;
  readonly models: ModelKeeper;
  readonly seats: Seats;
  readonly evaluation: Evaluation;
  /** Set for a task in the paper's mode. */
  readonly paper: PaperTask | undefined;
  readonly #tools: TaskTools;
  readonly #closer: Closer;
  readonly #createdAt: number;
  readonly #living = new Map<string, Ctx>();
  readonly #lastUploads = new Map<string, number>();
  /** Buffers of a task end one after the other: each version follows the one before. */
  #attending: Promise<void> = Promise.resolve();
  /** The same until a buffer came of it: asked again, the authority gives the same buffer. */
  #drawNonce: Uint8Array | undefined;
  #state: TaskState;
  #why: string | undefined;

  constructor(stored: StoredTask, read: ReadTask, tools: TaskTools) {
    const { task } = stored;
    this.task = task;
    this.read = read;
    this.#tools = tools;
    this.#state = stored.state;
    this.#why = stored.why;
    this.#createdAt = stored.createdAt;
    this.models = new ModelKeeper({ ...tools, task, read });
    const { models } = this;
    this.evaluation = new Evaluation({ ...tools, task, read, models });
    const onIncluded = () => this.#review();
    this.paper =
      read.mode === 'paper'
        ? new PaperTask({ tools, name: toHex(task), read, models, onModel: onIncluded })
        : undefined;
    this.seats = new Seats({
      ...tools,
      task,
      drawBuffer: () => this.#drawBuffer(),
      descriptorOf: async (ctx) => (await tools.keeper.find(ctx))?.descriptor,
    });
    this.#closer = new Closer({
      ...tools,
      models,
      stallMs: read.specification.stallMs,
      lastUploadAt: (ctx) => this.#lastUpload(ctx),
      onIncluded,
      onDropped: (ctx, slot) => tools.blobs.removeBelow(bodiesOfSlot(ctx, slot)),
      onEnded: (ctx) => this.#ended(ctx),
    });
  }

  get state(): TaskState {
    return this.#state;
  }

  get why(): string | undefined {
    return this.#why;
  }

  /** Buffers that have not ended. */
  get living(): readonly Ctx[] {
    return [...this.#living.values()];
  }

  /** How many buffers something is remembered of. */
  get held(): number {
    return new Set([...this.#living.keys(), ...this.#lastUploads.keys()]).size;
  }

  async setState(state: TaskState, why?: string): Promise<void> {
    await this.#tools.store.setTaskState(this.task, state, why);
    this.#state = state;
    this.#why = why;
  }

  /** Takes in a buffer that was read or changed. */
  track(buffer: SecureBuffer): void {
    if (!isEnded(buffer.status)) this.#living.set(toHex(buffer.ctx), buffer.ctx);
    this.seats.track(buffer);
  }

  /** An upload was accepted: perhaps it was the last one. */
  uploaded(ctx: Ctx): void {
    // One that has ended meanwhile is not remembered.
    if (!this.#living.has(toHex(ctx))) return;
    this.#lastUploads.set(toHex(ctx), this.#tools.clock());
    void this.attend(ctx);
  }

  /** Takes a buffer as far as it goes; trouble is told and tried again at the next look. */
  attend(ctx: Ctx): Promise<void> {
    const attended = this.#attending.then(async () => {
      if (!this.#living.has(toHex(ctx))) return;
      await this.#tried('a buffer could not be ended', () => this.#closer.attend(ctx));
    });
    this.#attending = attended;
    return attended;
  }

  /** Looks after everything; trouble in one thing does not keep it from the next. */
  async tick(): Promise<void> {
    if (this.models.newest === undefined) await this.#tried('the first model is not logged', () => this.models.open());
    await this.#tried('the turn of a user could not be ended', async () => this.paper?.tick());
    await Promise.all(this.living.map((ctx) => this.attend(ctx)));
    await this.#review();
  }

  /** Waits for what is under way. */
  settle(): Promise<void> {
    return this.#attending;
  }

  async #drawBuffer(): Promise<void> {
    const { authority, keeper, clock } = this.#tools;
    const newest = this.models.newest?.version ?? 0;
    this.#drawNonce ??= nodeRandomBytes(16);
    const descriptor = await authority.drawBuffer(this.task, this.#drawNonce);
    this.#drawNonce = undefined;
    // A sum could never become a model: its version would not follow the log.
    if (descriptor.version < newest || !(await this.models.has(descriptor)))
      throw new AuthorityUnreachable(
        `its newest model, version ${descriptor.version}, is not ours; one of the services was rolled back`,
      );
    const { ctx } = await keeper.add({ task: this.task, descriptor, drawnAt: clock() });
    this.#lastUploads.set(toHex(ctx), clock());
  }

  /** After a restart, waiting starts anew. */
  #lastUpload(ctx: Ctx): number {
    const at = this.#lastUploads.get(toHex(ctx)) ?? this.#tools.clock();
    this.#lastUploads.set(toHex(ctx), at);
    return at;
  }

  async #ended(ctx: Ctx): Promise<void> {
    await this.#tools.blobs.removeBelow(bodiesOf(ctx));
    this.#living.delete(toHex(ctx));
    this.#lastUploads.delete(toHex(ctx));
  }

  /** Evaluates the newest version and ends the task where it has reached its goal, also after a crash in between. */
  async #review(): Promise<void> {
    await this.#tried('the newest model could not be evaluated', () => this.evaluation.catchUp());
    if (this.#state === 'finished') return;
    const ageMs = this.#tools.clock() - this.#createdAt;
    const why = stopReason(this.read.specification.stop ?? {}, this.models.newest, ageMs);
    if (why !== undefined) await this.#tried('the task could not be ended', () => this.setState('finished', why));
  }

  async #tried(trouble: string, work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => this.#tools.onTrouble(trouble, error));
  }
}
