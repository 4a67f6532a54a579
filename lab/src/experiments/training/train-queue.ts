/** Trains jobs on all cores, the most important first. It starts no job that would not end in time. */
import { createWorkerPool, workerModule } from '@basa/runtime/node';
import type { Trained } from '@basa/simulator/virtual-time';
import type { ExampleShelf } from '../tasks/example-shelf.ts';
import { shelfFor } from '../tasks/learning-tasks.ts';
import type { NamedJob } from './train-plan.ts';
import type { TrainJob } from './train-worker.ts';
import type { TrainedStore } from './trained-store.ts';

export interface QueueOptions {
  readonly store: TrainedStore;
  readonly workers: number;
  /** Milliseconds that are left for training; without it, as long as it takes. */
  readonly msLeft?: (() => number) | undefined;
  readonly signal: AbortSignal;
  onProgress?(progress: GridProgress): void;
}

/** Of the updates that have to be trained, at most: a run that reaches its target ends. */
export interface GridProgress {
  readonly done: number;
  readonly all: number;
}

/** A job of unknown duration is started only if at least this much time is left. */
const UNKNOWN_MS = 60_000;
/** A worker stays with a task whose data it has loaded, unless a waiting job is more important by this amount. */
const RANK_BAND = 0.5;

/** Jobs must be sorted by rank. Jobs that are already in the store are not trained again. */
export async function trainAll(jobs: readonly NamedJob[], options: QueueOptions): Promise<void> {
  const { store, onProgress = () => {}, signal, msLeft = () => Number.POSITIVE_INFINITY } = options;
  const open = jobs.filter(({ name }) => store.get(name) === undefined);
  if (open.length === 0) return;
  const all = open.reduce((sum, { updates }) => sum + updates, 0);
  const durations = new Durations();
  const shelves = new Shelves();
  let done = 0;
  const lanes = Array.from({ length: Math.min(options.workers, open.length) }, () =>
    createWorkerPool<TrainJob, Trained>({ ...workerModule(import.meta.url, './train-worker'), size: 1 }),
  );
  const closeAll = (): Promise<unknown> => Promise.all(lanes.map((lane) => lane.close()));
  const stop = (): void => void closeAll();
  signal.addEventListener('abort', stop, { once: true });
  onProgress({ done, all });
  try {
    await Promise.all(
      lanes.map(async (lane) => {
        let last = '';
        for (;;) {
          const next = takeNext(open, last, (job) => durations.of(job) <= msLeft());
          if (next === undefined) return;
          last = dataOf(next);
          const began = performance.now();
          const trained = await lane.run({ ...next.job, shelf: shelves.of(next) });
          durations.add(next, performance.now() - began);
          store.put(next.name, trained);
          done += next.updates;
          onProgress({ done, all });
        }
      }),
    );
  } finally {
    signal.removeEventListener('abort', stop);
    await closeAll();
  }
}

function dataOf({ job }: NamedJob): string {
  return `${job.task} ${job.seed}`;
}

/** Takes a job from the list, preferably one with the same data if it is about as important. */
function takeNext(open: NamedJob[], last: string, isInTime: (job: NamedJob) => boolean): NamedJob | undefined {
  const first = open.findIndex(isInTime);
  if (first < 0) return undefined;
  const most = (open[first] as NamedJob).rank + RANK_BAND;
  const same = open.findIndex((job) => job.rank <= most && dataOf(job) === last && isInTime(job));
  return open.splice(same < 0 ? first : same, 1)[0];
}

/** The time that jobs of a task take for each update that they may have to train. */
class Durations {
  readonly #known = new Map<string, { ms: number; updates: number }>();

  add({ job, updates }: NamedJob, ms: number): void {
    const known = this.#known.get(job.task) ?? { ms: 0, updates: 0 };
    this.#known.set(job.task, { ms: known.ms + ms, updates: known.updates + updates });
  }

  of({ job, updates }: NamedJob): number {
    const known = this.#known.get(job.task);
    return known === undefined ? UNKNOWN_MS : (known.ms / known.updates) * updates;
  }
}

/** One for all threads that have the same data open. */
class Shelves {
  readonly #known = new Map<string, ExampleShelf | undefined>();

  of(job: NamedJob): ExampleShelf | undefined {
    const key = dataOf(job);
    if (!this.#known.has(key)) this.#known.set(key, shelfFor(job.job.task, job.job.leaf));
    return this.#known.get(key);
  }
}
