/** The public view of a server's tasks, for the event stream. */
import { toHex } from '@basa/masking';
import { type LiveBuffer, type LiveState, type LiveVersion, type ShotBatch, scoresIn } from '@basa/protocol';
import type { Answer } from '@basa/service';
import { liveBatch } from '../shots/batches.ts';
import { isEnded } from '../store/batches.ts';
import type { Store } from '../store/store.ts';
import type { RunningTask } from '../tasks/running-task.ts';
import { Tallies } from '../watch/server-watch.ts';

const MAX_ENDED = 6;
const MAX_WINDOWS = 24;

export interface LiveOptions {
  readonly store: Store;
  readonly clock: () => number;
}

export class LiveTasks {
  readonly #options: LiveOptions;
  readonly #tallies = new Tallies();
  /** Batches of each task that ended recently, the last one first. */
  readonly #ended = new Map<string, readonly LiveBuffer[]>();
  /** Tasks whose last batches were looked up: after a restart this process has not seen them end. */
  readonly #recalled = new Set<string>();
  readonly #listeners = new Set<() => void>();
  readonly #startedAt: number;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#startedAt = options.clock();
  }

  /** Calls the listener whenever something may have changed. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0;
  }

  answered(answer: Answer): void {
    if (this.#tallies.answered(answer)) this.#changed();
  }

  fetched(task: string, version: number): void {
    this.#tallies.fetched(task, version);
  }

  /** A batch was read or changed. */
  track(batch: ShotBatch): void {
    if (isEnded(batch.status)) this.#remember(toHex(batch.task), liveBatch(batch));
    this.#changed();
  }

  async state(task: RunningTask, versions: readonly LiveVersion[]): Promise<LiveState> {
    const name = toHex(task.task);
    await this.#recall(task);
    const { stop, target } = task.read.specification;
    const { statistics } = task.mode;
    const found = await Promise.all(task.living.map((ctx) => task.mode.show(ctx)));
    // A batch that has just ended is removed a little later.
    const living = found.flatMap((shown) =>
      shown === undefined || isEnded(shown.status as ShotBatch['status']) ? [] : [shown],
    );
    return {
      at: this.#options.clock(),
      startedAt: this.#startedAt,
      task: name,
      name: Buffer.from(task.read.policy.name).toString('utf8'),
      mode: task.read.mode,
      state: task.state,
      ...(task.why !== undefined && { why: task.why }),
      stop: stop ?? {},
      ...(target !== undefined && { target }),
      versions,
      ...(statistics !== undefined && { windows: await statistics.last(MAX_WINDOWS) }),
      buffers: [...living, ...(await task.mode.filling()), ...(this.#ended.get(name) ?? [])],
      admission: task.admission.view,
      steps: this.#tallies.steps(),
      refusals: this.#tallies.refusals(),
      fetches: this.#tallies.fetches(name),
    };
  }

  /** Returns the versions from this one on that users may have. */
  async versions({ task }: RunningTask, from: number): Promise<readonly LiveVersion[]> {
    const models = await this.#options.store.models(task, from);
    return models.map(({ version, madeAt, accepted, dropped, meanAge, metrics, ...model }) => ({
      version,
      at: madeAt,
      accepted,
      dropped,
      ...scoresIn(model),
      ...(meanAge !== undefined && { meanAge }),
      ...(metrics !== undefined && Object.keys(metrics).length > 0 && { metrics }),
    }));
  }

  /** Every batch that the keeper reads is passed to `track`. */
  async #recall({ task, mode }: RunningTask): Promise<void> {
    const name = toHex(task);
    if (this.#recalled.has(name)) return;
    this.#recalled.add(name);
    const last = await this.#options.store.lastSums(task, MAX_ENDED);
    for (const ctx of [...last].reverse()) await mode.show(ctx);
  }

  #remember(task: string, shown: LiveBuffer): void {
    const others = (this.#ended.get(task) ?? []).filter(({ ctx }) => ctx !== shown.ctx);
    this.#ended.set(task, [shown, ...others].slice(0, MAX_ENDED));
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
