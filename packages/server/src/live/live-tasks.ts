/** What the tasks of a server look like from outside, now: what the event stream tells. */
import { toHex } from '@basa/masking';
import type { BasaEvent, LiveBuffer, LiveState, LiveVersion, SecureBuffer } from '@basa/protocol';
import type { Answer } from '@basa/service';
import type { BufferKeeper } from '../buffer-keeper.ts';
import type { RunningTask } from '../running-task.ts';
import type { Store } from '../store/store.ts';
import { isEnded } from '../store/store.ts';
import { Tallies } from './tallies.ts';

const MOST_ENDED = 6;
const MOST_LAG = 32;

interface Past {
  /** Buffers that ended lately, the last one first. */
  ended: readonly LiveBuffer[];
  readonly lags: number[];
}

export interface LiveOptions {
  readonly store: Store;
  readonly clock: () => number;
}

export class LiveTasks {
  readonly #options: LiveOptions;
  readonly #tallies = new Tallies();
  readonly #past = new Map<string, Past>();
  readonly #listeners = new Set<() => void>();
  readonly #startedAt: number;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#startedAt = options.clock();
  }

  /** Told whenever something may look different; returns what takes the listener away. */
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

  /** A buffer was read or changed. */
  track(buffer: SecureBuffer): void {
    if (isEnded(buffer.status)) this.#remember(buffer);
    this.#changed();
  }

  note(event: BasaEvent): void {
    if (event.kind === 'slot-dropped') this.#tallies.dropped(event.why);
    if (event.kind === 'buffer-included') this.#included(toHex(event.ctx), event.version);
  }

  /** A sum became a version: how far the model had moved on meanwhile. */
  #included(ctx: string, version: number): void {
    for (const { ended, lags } of this.#past.values()) {
      const buffer = ended.find((known) => known.ctx === ctx);
      if (buffer === undefined) continue;
      const lag = Math.min(MOST_LAG, version - 1 - buffer.version);
      while (lags.length <= lag) lags.push(0);
      lags[lag] = (lags[lag] ?? 0) + 1;
    }
  }

  async state(task: RunningTask, keeper: BufferKeeper, versions: readonly LiveVersion[]): Promise<LiveState> {
    const name = toHex(task.task);
    const found = await Promise.all(task.living.map((ctx) => keeper.find(ctx)));
    // One that has just ended is tidied up a little later.
    const living = found.flatMap((buffer) =>
      buffer === undefined || isEnded(buffer.status) ? [] : [liveBuffer(buffer)],
    );
    const { ended, lags } = this.#pastOf(name);
    return {
      at: this.#options.clock(),
      startedAt: this.#startedAt,
      task: name,
      name: Buffer.from(task.read.policy.name).toString('utf8'),
      mode: task.read.mode,
      state: task.state,
      ...(task.why !== undefined && { why: task.why }),
      versions,
      buffers: [...living, ...ended],
      admission: task.places.view,
      lags,
      steps: this.#tallies.steps(),
      refusals: this.#tallies.refusals(),
      drops: this.#tallies.drops(),
      fetches: this.#tallies.fetches(name),
    };
  }

  /** The versions from this one on that users may have. */
  async versions({ task, read }: RunningTask, from: number): Promise<readonly LiveVersion[]> {
    const models = await this.#options.store.models(task);
    return models
      .filter(({ entry, version }) => version >= from && (entry !== undefined || read.mode === 'paper'))
      .map(({ version, madeAt, accepted, dropped, accuracy, meanAge, metrics }) => ({
        version,
        at: madeAt,
        accepted,
        dropped,
        ...(accuracy !== undefined && { accuracy }),
        ...(meanAge !== undefined && { meanAge }),
        ...(metrics !== undefined && Object.keys(metrics).length > 0 && { metrics }),
      }));
  }

  #remember(buffer: SecureBuffer): void {
    const past = this.#pastOf(toHex(buffer.descriptor.task));
    const ctx = toHex(buffer.ctx);
    past.ended = [liveBuffer(buffer), ...past.ended.filter((other) => other.ctx !== ctx)].slice(0, MOST_ENDED);
  }

  #pastOf(task: string): Past {
    const known = this.#past.get(task) ?? { ended: [], lags: [] };
    this.#past.set(task, known);
    return known;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Without users and signatures. */
function liveBuffer({ ctx, descriptor, status, slots }: SecureBuffer): LiveBuffer {
  const { version, bufferSize, minimum, expiry } = descriptor;
  return {
    ctx: toHex(ctx),
    status,
    version,
    bufferSize,
    minimum,
    expiry,
    slots: slots.map(({ ticket, status: slotStatus, graceMs }) => ({
      slot: ticket.slot,
      status: slotStatus,
      deadline: ticket.deadline + graceMs,
    })),
  };
}
