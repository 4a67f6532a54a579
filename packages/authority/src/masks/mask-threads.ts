/** The threads of the one-shot mode, the turns that tasks take at them, and the uploads that they have examined. */
import { toHex } from '@basa/masking';
import type { Ctx, Refused, TaskId } from '@basa/protocol';
import type { Parts } from '@basa/protocol/one-shot';
import type { Part } from '@basa/protocol/policy';
import { ShotHeader } from '@basa/protocol/wire';
import { createWorkerPool, type WorkerPool, workerModule } from '@basa/runtime/node';
import {
  type Examination,
  type MaskResult,
  type MaskTask,
  type NoiseSource,
  type PackedSum,
  type UploadsTask,
  wipeSecrets,
} from './work/tasks.ts';

// The threads of the one-shot mode. Uploads are split among them; the shards of a sum are added and packed in one of them.

/** A request with uploads to process. `secrets` are copied to each thread, and overwritten here at the end. */
export type UploadsWork = Omit<UploadsTask, 'from' | 'to'> & { readonly count: number };

export class MaskThreads {
  readonly #size: number;
  #pool: WorkerPool<MaskTask, MaskResult> | undefined;
  /** Sums are vectors of the model's length for each part and thread: one batch at a time. */
  readonly #sums = new Turns();

  /** With size 0 the work is done in the thread that asks for it: for tests. */
  constructor(size: number) {
    this.#size = size;
  }

  /** Returns an examination for each upload of an `inspectRequest`, in order. */
  async examine(work: UploadsWork): Promise<readonly Examination[]> {
    const results = await this.#shards(work, (shard) => ({ ...shard, kind: 'examine' }));
    return results.flatMap((result) => (result.kind === 'examined' ? result.uploads : []));
  }

  /** The sum of the masks of each part over all uploads of a `releaseRequest`, in the order of the parts. */
  sum(
    task: TaskId,
    work: UploadsWork,
    parts: readonly Part[],
    noise?: NoiseSource,
  ): Promise<readonly PackedSum[] | Refused> {
    return this.#sums.take(toHex(task), async () => {
      const results = await this.#shards(work, (shard) => ({ ...shard, kind: 'sum', parts }));
      const shards: (readonly Uint32Array[])[] = [];
      for (const result of results) {
        if (result.kind === 'refused') return result.refused;
        if (result.kind === 'summed') shards.push(result.sums);
      }
      return Promise.all(
        parts.map((_, n) =>
          this.#packed(
            work.policy,
            shards.map((sums) => sums[n] as Uint32Array),
            noise,
          ),
        ),
      );
    });
  }

  async close(): Promise<void> {
    await this.#pool?.close();
  }

  async #packed(
    policy: Uint8Array,
    shards: readonly Uint32Array[],
    noise: NoiseSource | undefined,
  ): Promise<PackedSum> {
    const result = await this.#threads().run(
      { kind: 'pack', policy, shards, noise },
      shards.map(({ buffer }) => buffer as ArrayBuffer),
    );
    if (result.kind !== 'packed') throw new Error('a thread answered another question');
    return result;
  }

  async #shards(work: UploadsWork, taskOf: (shard: UploadsTask) => MaskTask): Promise<readonly MaskResult[]> {
    const { count, ...of } = work;
    const size = Math.max(1, Math.ceil(count / Math.max(1, this.#size)));
    const starts = Array.from({ length: Math.ceil(count / size) }, (_, n) => n * size);
    try {
      return await Promise.all(
        starts.map((from) => this.#threads().run(taskOf({ ...of, from, to: Math.min(from + size, count) }))),
      );
    } finally {
      wipeSecrets(work.secrets);
    }
  }

  #threads(): WorkerPool<MaskTask, MaskResult> {
    this.#pool ??= this.#size === 0 ? IN_THIS_THREAD : this.#started();
    return this.#pool;
  }

  #started(): WorkerPool<MaskTask, MaskResult> {
    const module = workerModule(import.meta.url, './work/mask-worker');
    return createWorkerPool<MaskTask, MaskResult>({ ...module, size: this.#size, isUnheld: true });
  }
}

const IN_THIS_THREAD: WorkerPool<MaskTask, MaskResult> = {
  size: 0,
  async run(task) {
    const { workOn, maskTools } = await import('./work/mask-work.ts');
    return workOn(task, maskTools);
  },
  close: async () => {},
};

// One work at a time. Tasks whose work waits take turns, so that one task with much work delays the others by one work at most.

export class Turns {
  /** The task whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => Promise<void>)[]>();
  #isBusy = false;

  take<Result>(task: string, work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const own = this.#waiting.get(task) ?? [];
      own.push(() => work().then(resolve, reject));
      this.#waiting.set(task, own);
      if (!this.#isBusy) void this.#workOff();
    });
  }

  async #workOff(): Promise<void> {
    this.#isBusy = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) await next();
    this.#isBusy = false;
  }

  #next(): (() => Promise<void>) | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [task, works] = first;
    const next = works.shift();
    this.#waiting.delete(task);
    if (works.length > 0) this.#waiting.set(task, works);
    return next;
  }
}

// Uploads that were called good or used since the start, by their names, so that a vote carries only names. Within each task the oldest
// make room for new ones: no server of another task can push them out.

type Kept = Map<string, Parts.ExaminedUpload>;

export class ExaminedUploads {
  readonly #kept = new Map<string, Kept>();

  /** Remembers at most `most` of the task. */
  add(upload: Parts.ExaminedUpload, most: number): void {
    // A copy, because the decoded header would keep the memory of its whole request alive.
    const header = ShotHeader.decode(ShotHeader.encode(upload.header));
    const name = toHex(upload.name);
    const kept = this.#of(header.task);
    kept.delete(name);
    kept.set(name, { ...upload, header });
    for (const oldest of kept.keys()) {
      if (kept.size <= most) break;
      kept.delete(oldest);
    }
  }

  get(task: TaskId, name: Ctx): Parts.ExaminedUpload | undefined {
    return this.#kept.get(toHex(task))?.get(toHex(name));
  }

  /** Forgets uploads that name no live epoch here any more, with their guard words. */
  keepOnly(isLive: (statement: Uint8Array) => boolean): void {
    for (const kept of this.#kept.values())
      for (const [name, { header }] of kept)
        if (!header.epochs.some(({ statement }) => isLive(statement))) kept.delete(name);
  }

  #of(task: TaskId): Kept {
    const kept = this.#kept.get(toHex(task)) ?? new Map();
    this.#kept.set(toHex(task), kept);
    return kept;
  }
}
