/** Makes batches of good uploads as soon as waiting does not pay, and ends uploads that can be in none any more. */
import { toHex } from '@basa/masking';
import type { Epoch, OneShotPolicy, TaskId, TaskPolicy, UserId } from '@basa/protocol';
import type { BlobStore } from '../blobs/blob-store.ts';
import { bodiesOf } from '../blobs/body-key.ts';
import type { BatchKeeper } from '../buffers/batch-keeper.ts';
import type { ModelKeeper } from '../closing/model-keeper.ts';
import type { Fence } from '../store/leases.ts';
import type { ShotStatus, StoredShot } from '../store/shots.ts';
import type { Store } from '../store/store.ts';
import { type Group, groupsOf, isBatchDue, pickBatch, voteWindow } from './batching.ts';
import type { Inspector } from './inspector.ts';
import type { Standings } from './standings.ts';

/** Who comes, as admission knows it. */
export interface Coming {
  /** How long nobody has been under way with an update on the version; without end if nobody will come. */
  quietMs(version: number): number;
  /** How many devices may still come with one; undefined if any number may. */
  coming(version: number): number | undefined;
  /** Updates on the version that are in no batch yet. */
  trackWaiting(version: number, users: readonly UserId[]): void;
}

export interface BatcherOptions {
  readonly task: TaskId;
  readonly policy: TaskPolicy & { readonly oneShot: OneShotPolicy };
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly batches: BatchKeeper;
  readonly models: ModelKeeper;
  readonly standings: Standings;
  readonly inspector: Inspector;
  readonly coming: Coming;
  readonly stallMs: number | undefined;
}

/** Uploads of a task that are in no batch. */
interface Waiting {
  readonly arriving: readonly StoredShot[];
  readonly waiting: readonly StoredShot[];
  readonly good: readonly StoredShot[];
}

/** When it is looked at, and what epochs mean. */
interface Scene {
  readonly now: number;
  readonly epochs: ReadonlyMap<string, Epoch>;
}

/** No more are looked at, whatever a task has. */
const MOST = 40_000;
/** A batch is made this long before the time to vote for it runs out. */
const MARGIN_MS = 60_000;

export class Batcher {
  readonly #options: BatcherOptions;
  /** Versions that admission knows uploads of. */
  #tracked: ReadonlySet<number> = new Set();

  constructor(options: BatcherOptions) {
    this.#options = options;
  }

  async look(fence: Fence): Promise<void> {
    const { store } = this.#options;
    const found = await this.#found();
    const scene = { now: await store.now(), epochs: await this.#epochs(found) };
    const ended = await this.#endHopeless(found, scene, fence);
    const left = without(found, ended);
    const batched = new Set<StoredShot>();
    for (const group of groupsOf(left.good))
      for (const shot of await this.#batch(group, left, scene, fence)) batched.add(shot);
    this.#track(without(left, batched));
  }

  async #found(): Promise<Waiting> {
    const { store, task } = this.#options;
    const of = (status: ShotStatus): Promise<readonly StoredShot[]> => store.shotsOf(task, status, MOST);
    return { arriving: await of('arriving'), waiting: await of('waiting'), good: await of('good') };
  }

  #epochs({ arriving, waiting, good }: Waiting): Promise<ReadonlyMap<string, Epoch>> {
    const headers = [...arriving, ...waiting, ...good].map(({ upload }) => upload.header);
    return this.#options.standings.epochs(headers.flatMap(({ epochs }) => epochs.map(({ statement }) => statement)));
  }

  #window(shot: StoredShot, epochs: ReadonlyMap<string, Epoch>): ReturnType<typeof voteWindow> {
    const { voteMs } = this.#options.policy.oneShot;
    return voteWindow(shot, { voteMs, epoch: (statement) => epochs.get(toHex(statement)) });
  }

  /** Returns the uploads that are in batches from now on. */
  async #batch(
    group: Group,
    { arriving, waiting }: Waiting,
    { now, epochs }: Scene,
    fence: Fence,
  ): Promise<ReadonlySet<StoredShot>> {
    const { task, policy, store, batches, coming, stallMs = Number.POSITIVE_INFINITY } = this.#options;
    const { version } = group;
    const others = [...arriving, ...waiting].filter(({ upload }) => upload.header.version === version);
    const taken = new Set<StoredShot>();
    for (;;) {
      const rest = group.shots.filter((shot) => !taken.has(shot));
      const picked = pickBatch(policy, rest);
      const lastAt = latest([...rest, ...others]);
      const pace = { quietMs: coming.quietMs(version), idleMs: now - lastAt, stallMs, isAwaited: others.length > 0 };
      const leftMs = earliest(picked.map((shot) => this.#window(shot, epochs).first)) - now;
      const marginMs = Math.min(MARGIN_MS, policy.oneShot.voteMs / 2);
      if (!isBatchDue(policy, picked, { pace, leftMs, marginMs })) return taken;
      const uploads = picked.map(({ name }) => name);
      if ((await batches.add({ task, number: await store.nextBatch(task), uploads }, fence)) === undefined)
        return taken;
      for (const shot of picked) taken.add(shot);
    }
  }

  /** Of versions that are too old or cannot have enough updates any more, and of epochs that nobody votes for any more. */
  async #endHopeless(found: Waiting, { now, epochs }: Scene, fence: Fence): Promise<ReadonlySet<StoredShot>> {
    const { inspector } = this.#options;
    const all = [...found.arriving, ...found.waiting, ...found.good];
    const over = this.#versionsOver(all);
    const ended = new Set<StoredShot>();
    for (const shot of all) {
      const isOver = over.has(shot.upload.header.version);
      if (!isOver && now < this.#window(shot, epochs).last) continue;
      await (isOver ? this.#end(shot, fence) : inspector.refuse(shot, 'epoch-over', fence));
      ended.add(shot);
    }
    return ended;
  }

  #versionsOver(all: readonly StoredShot[]): ReadonlySet<number> {
    const { coming, policy, models } = this.#options;
    const newest = models.newest?.version ?? 0;
    const counts = new Map<number, number>();
    for (const { upload } of all) counts.set(upload.header.version, (counts.get(upload.header.version) ?? 0) + 1);
    const isOver = ([version, own]: readonly [number, number]): boolean => {
      const isShort = own + (coming.coming(version) ?? Number.POSITIVE_INFINITY) < policy.minimum;
      return newest - version > policy.maxStaleness || (version < newest && isShort);
    };
    return new Set([...counts].filter(isOver).map(([version]) => version));
  }

  async #end({ name, status }: StoredShot, fence: Fence): Promise<void> {
    const { store, task, blobs } = this.#options;
    await store.decideShots(task, [name], { from: status, to: 'over', reason: 'version-over' }, fence);
    await blobs.removeBelow(bodiesOf(name));
  }

  #track({ waiting, good }: Waiting): void {
    const { coming } = this.#options;
    const byVersion = new Map<number, UserId[]>([...this.#tracked].map((version) => [version, []]));
    for (const { upload } of [...waiting, ...good]) {
      const { version, user } = upload.header;
      const users = byVersion.get(version);
      if (users === undefined) byVersion.set(version, [user]);
      else users.push(user);
    }
    for (const [version, users] of byVersion) coming.trackWaiting(version, users);
    this.#tracked = new Set([...byVersion].filter(([, users]) => users.length > 0).map(([version]) => version));
  }
}

function without({ arriving, waiting, good }: Waiting, gone: ReadonlySet<StoredShot>): Waiting {
  const left = (shots: readonly StoredShot[]): readonly StoredShot[] => shots.filter((shot) => !gone.has(shot));
  return { arriving: left(arriving), waiting: left(waiting), good: left(good) };
}

function latest(shots: readonly StoredShot[]): number {
  return shots.reduce((last, { at }) => Math.max(last, at), 0);
}

function earliest(times: readonly number[]): number {
  return times.reduce((first, time) => Math.min(first, time), Number.POSITIVE_INFINITY);
}
