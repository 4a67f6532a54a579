/** The public view of a server's tasks, for the event stream. */
import { toHex } from '@basa/masking';
import { Live } from '@basa/protocol/http';
import type { Answer } from '@basa/service';
import type { BatchRow } from '../store/batches.ts';
import type { Store } from '../store/store.ts';
import type { RunningTask } from '../tasks/running-task.ts';
import { Tallies } from '../watch/server-watch.ts';

/** A listener is told no more often. */
export const MIN_PAUSE_MS = 200;
const MAX_ENDED = 6;
const MAX_WINDOWS = 24;

export class LiveTasks {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #tallies = new Tallies();
  readonly #listeners = new Set<() => void>();
  readonly #startedAt: number;
  /** For all listeners of a task, by its name: they ask together after each change. */
  readonly #shared = new Map<
    string,
    { readonly at: number; readonly state: Promise<Omit<Live.LiveState, 'versions'>> }
  >();

  constructor(store: Store, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
    this.#startedAt = clock();
  }

  /** Calls the listener whenever something may have changed. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  answered(answer: Answer): void {
    if (this.#tallies.answered(answer)) this.changed();
  }

  fetched(task: string, version: number): void {
    this.#tallies.fetched(task, version);
  }

  /** Something that a listener sees has changed. */
  changed(): void {
    this.#shared.clear();
    for (const listener of this.#listeners) listener();
  }

  async state(task: RunningTask, versions: readonly Live.LiveVersion[]): Promise<Live.LiveState> {
    const name = toHex(task.task);
    const now = performance.now();
    const known = this.#shared.get(name);
    const shared = known !== undefined && now - known.at < MIN_PAUSE_MS ? known : { at: now, state: this.#look(task) };
    this.#shared.set(name, shared);
    return { ...(await shared.state), versions };
  }

  async #look(task: RunningTask): Promise<Omit<Live.LiveState, 'versions'>> {
    const name = toHex(task.task);
    const { stop, target } = task.read.specification;
    const { statistics } = task.mode;
    // Nobody is told when only the places have changed, so they must be those of now.
    await task.admission.look();
    return {
      at: this.#clock(),
      startedAt: this.#startedAt,
      task: name,
      name: Buffer.from(task.read.policy.name).toString('utf8'),
      mode: task.read.mode,
      state: task.state,
      ...(task.why !== undefined && { why: task.why }),
      stop: stop ?? {},
      ...(target !== undefined && { target }),
      ...(statistics !== undefined && { windows: await statistics.last(MAX_WINDOWS) }),
      batches: await this.#batches(task),
      admission: task.admission.view,
      steps: this.#tallies.steps(),
      refusals: this.#tallies.refusals(),
      fetches: this.#tallies.fetches(name),
    };
  }

  /** Returns the versions from this one on that users may have. */
  async versions({ task }: RunningTask, from: number): Promise<readonly Live.LiveVersion[]> {
    const models = await this.#store.models(task, from);
    return models.map(({ version, madeAt, accepted, dropped, meanAge, metrics, ...model }) => ({
      version,
      at: madeAt,
      accepted,
      dropped,
      ...Live.scoresIn(model),
      ...(meanAge !== undefined && { meanAge }),
      ...(metrics !== undefined && Object.keys(metrics).length > 0 && { metrics }),
    }));
  }

  /** Those that are open, then the uploads that will be in one, then those that ended lately. */
  async #batches({ task, read }: RunningTask): Promise<readonly Live.LiveBatch[]> {
    const { bufferSize, minimum } = read.policy;
    const shown = ({ ctx, status, version, updates }: BatchRow): Live.LiveBatch => {
      return { ctx: toHex(ctx), status, version, bufferSize, minimum, accepted: updates };
    };
    const groups = await this.#store.shotGroups(task);
    const filling = groups.flatMap(({ version, waiting, good }): Live.LiveBatch[] => {
      const accepted = Math.min(waiting + good, bufferSize);
      return accepted === 0
        ? []
        : [{ ctx: `filling-${version}`, status: 'filling', version, bufferSize, minimum, accepted }];
    });
    const [open, ended] = [await this.#store.openBatches(task), await this.#store.lastBatches(task, MAX_ENDED)];
    return [...open.map(shown), ...filling, ...ended.map(shown)];
  }
}
