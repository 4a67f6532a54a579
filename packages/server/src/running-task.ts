/** One task of a server at work: its models, its seats, its buffers, and when it ends. */
import { randomBytes } from 'node:crypto';
import { toHex } from '@basa/masking';
import type { BasaEvent, Ctx, SecureBuffer, ServerPorts, TaskId } from '@basa/protocol';
import type { WorkerPool } from '@basa/runtime/node';
import type { AuthorityLink } from './authority-link.ts';
import type { BlobStore } from './blobs/blob-store.ts';
import type { BufferKeeper } from './buffer-keeper.ts';
import { Closer } from './closer.ts';
import { ModelKeeper } from './model-keeper.ts';
import { PaperTask } from './paper-task.ts';
import { Seats } from './seats.ts';
import type { Store, StoredModel, StoredTask, TaskState } from './store/store.ts';
import type { ReadTask } from './task-specification.ts';
import { bodyKey } from './uploads.ts';
import type { Evaluated, ModelOptions, WorkResult, WorkTask } from './work/tasks.ts';

/** What tasks share. */
export interface TaskTools {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly blobFolder: string;
  readonly keeper: BufferKeeper;
  readonly authority: AuthorityLink;
  readonly ports: ServerPorts;
  readonly pool: WorkerPool<WorkTask, WorkResult>;
  readonly clock: () => number;
  readonly seatMs: number;
  onEvent(event: BasaEvent): void;
  /** Something failed that is tried again later. */
  onTrouble(what: string, error: unknown): void;
}

export class RunningTask {
  readonly task: TaskId;
  readonly read: ReadTask;
  readonly models: ModelKeeper;
  readonly seats: Seats;
  /** Set for a task in the paper's mode. */
  readonly paper: PaperTask | undefined;
  readonly #tools: TaskTools;
  readonly #closer: Closer;
  readonly #createdAt: number;
  readonly #living = new Map<string, Ctx>();
  readonly #lastUploads = new Map<string, number>();
  /** Buffers of a task end one after the other: each version follows the one before. */
  #attending: Promise<void> = Promise.resolve();
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
    this.paper =
      read.mode === 'paper'
        ? new PaperTask({
            tools,
            name: toHex(task),
            read,
            models: this.models,
            onModel: (model) => this.#included(model),
          })
        : undefined;
    this.seats = new Seats({
      ...tools,
      task,
      drawBuffer: () => this.#drawBuffer(),
      descriptorOf: async (ctx) => (await tools.keeper.find(ctx))?.descriptor,
    });
    this.#closer = new Closer({
      ...tools,
      models: this.models,
      stallMs: read.specification.stallMs,
      lastUploadAt: (ctx) => this.#lastUpload(ctx),
      onIncluded: (model) => this.#included(model),
      onEnded: (buffer) => this.#ended(buffer),
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

  async setState(state: TaskState, why?: string): Promise<void> {
    await this.#tools.store.setTaskState(this.task, state, why);
    this.#state = state;
    this.#why = why;
  }

  /** Takes in a buffer that was read or changed. */
  track(buffer: SecureBuffer): void {
    if (['filling', 'frozen', 'granted'].includes(buffer.status)) this.#living.set(toHex(buffer.ctx), buffer.ctx);
    this.seats.track(buffer);
  }

  /** An upload was accepted: perhaps it was the last one. */
  uploaded(ctx: Ctx): void {
    this.#lastUploads.set(toHex(ctx), this.#tools.clock());
    void this.attend(ctx);
  }

  /** Takes a buffer as far as it goes; trouble is told and tried again at the next look. */
  attend(ctx: Ctx): Promise<void> {
    const attended = this.#attending.then(async () => {
      if (!this.#living.has(toHex(ctx))) return;
      await this.#closer
        .attend(ctx)
        .catch((error: unknown) => this.#tools.onTrouble('a buffer could not be ended', error));
    });
    this.#attending = attended;
    return attended;
  }

  async tick(): Promise<void> {
    if (this.models.newest === undefined)
      await this.models
        .open()
        .catch((error: unknown) => this.#tools.onTrouble('the first model could not be logged', error));
    await this.paper?.tick();
    await Promise.all(this.living.map((ctx) => this.attend(ctx)));
    const { afterMs } = this.read.specification.stop ?? {};
    if (this.#state === 'running' && afterMs !== undefined && this.#tools.clock() - this.#createdAt >= afterMs)
      await this.setState('finished', `${afterMs} ms are over`);
  }

  /** Waits for what is under way. */
  settle(): Promise<void> {
    return this.#attending;
  }

  examplesKey(): string {
    return `evaluation/${toHex(this.task)}`;
  }

  async #drawBuffer(): Promise<void> {
    const { authority, keeper, clock } = this.#tools;
    const descriptor = await authority.drawBuffer(this.task, randomBytes(16));
    const { ctx } = await keeper.add({ task: this.task, descriptor, drawnAt: clock() });
    this.#lastUploads.set(toHex(ctx), clock());
  }

  /** After a restart, waiting starts anew. */
  #lastUpload(ctx: Ctx): number {
    const at = this.#lastUploads.get(toHex(ctx)) ?? this.#tools.clock();
    this.#lastUploads.set(toHex(ctx), at);
    return at;
  }

  async #ended({ ctx, slots }: SecureBuffer): Promise<void> {
    this.#living.delete(toHex(ctx));
    this.#lastUploads.delete(toHex(ctx));
    for (const { header } of slots) if (header !== undefined) await this.#tools.blobs.remove(bodyKey(header));
  }

  async #included(model: StoredModel): Promise<void> {
    const evaluated = await this.evaluate(model.version);
    const { stop = {} } = this.read.specification;
    if (this.#state === 'finished') return;
    if (stop.accuracy !== undefined && evaluated !== undefined && evaluated.accuracy >= stop.accuracy)
      await this.setState('finished', `accuracy ${evaluated.accuracy.toFixed(4)} reached at version ${model.version}`);
    else if (stop.version !== undefined && model.version >= stop.version)
      await this.setState('finished', `version ${model.version} reached`);
  }

  /** Accuracy and loss on the held-out examples, where there are any. */
  async evaluate(version: number): Promise<Evaluated | undefined> {
    const { blobs, pool, store, blobFolder } = this.#tools;
    const { model } = this.read.specification;
    const key = this.examplesKey();
    if (model === undefined || (await blobs.size(key)) === undefined) return undefined;
    const parameters = await this.models.parameters(version);
    const examples = `${blobFolder}/${key}`;
    const task: WorkTask = { kind: 'evaluate', model: model as ModelOptions, parameters, examples };
    const evaluated = (await pool.run(task)) as Evaluated;
    await store.setEvaluation(this.task, version, evaluated);
    return evaluated;
  }
}
