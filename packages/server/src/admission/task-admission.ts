/** Admission to a running task: which devices may train now and for how long, and when no other device is on the way. */
import { toHex } from '@basa/masking';
import {
  type AdmissionView,
  type Admitted,
  type Refused,
  refused,
  retryAfterMs,
  type ShotBatch,
  type TaskId,
  type UserId,
} from '@basa/protocol';
import { type RateLimit, TokenBuckets } from '@basa/service';
import type { AdmissionNumbers } from '../specification/task-specification.ts';
import type { StoredModel } from '../store/models.ts';
import type { Store } from '../store/store.ts';
import type { PlaceCount, Places } from './places.ts';

export interface TaskAdmissionOptions extends AdmissionNumbers {
  readonly task: TaskId;
  readonly store: Pick<Store, 'othersOn'>;
  readonly placeTable: Places;
  readonly clock: () => number;
  /** In [0, 1): spreads devices that were told to come back. */
  jitter(): number;
}

interface Later {
  readonly kind: 'later';
  readonly why: string;
  readonly retryAfterMs: number;
}
export type PlaceAnswer = Later | { readonly kind: 'place'; readonly leftMs: number };

const WHY: Readonly<Record<Exclude<Admitted, 'place'>, string>> = {
  given: 'the last update of this device is in no version yet, or is on the newest version',
  full: 'every place is taken',
  backlog: 'batches are waiting to be opened',
  few: 'too few devices that could contribute to this version have asked for a place',
};

export class TaskAdmission {
  readonly #options: TaskAdmissionOptions;
  readonly #pace = new Pace();
  /** Batches that wait to be opened, and those among them whose authorities did not answer. */
  readonly #waiting = new Set<string>();
  readonly #aside = new Set<string>();
  #newestVersion = -1;
  /** The time since which no device is under way with an update on the newest version. */
  #quietSince: number | undefined;
  #isUsed = false;
  /** As of the last look or answer. */
  #count: PlaceCount = { used: 0, waiting: 0 };
  #underWay: ReadonlyMap<number, number> = new Map();

  constructor(options: TaskAdmissionOptions) {
    this.#options = options;
  }

  async ask(user: UserId): Promise<PlaceAnswer> {
    this.#isUsed = true;
    const { task, placeTable, clock, jitter, places, uploadLeaseMs, minimum, privateWithinMs } = this.#options;
    const { admitted, leftMs, ...count } = await placeTable.take(task, user, {
      version: Math.max(0, this.#newestVersion),
      places,
      waitingSums: this.#waitingSums,
      least: privateWithinMs === undefined ? 0 : minimum,
      withinMs: privateWithinMs ?? 0,
      leaseMs: this.#pace.leaseMs(uploadLeaseMs),
    });
    this.#count = count;
    if (admitted !== 'place')
      return { kind: 'later', why: WHY[admitted], retryAfterMs: retryAfterMs(count.waiting, jitter()) };
    this.#quietSince = undefined;
    this.#pace.begin(user, clock());
    return { kind: 'place', leftMs };
  }

  /**
   * Returns the reason why an update on this version can no longer be in a sum: no device begins on an older version any
   * more, so that with the uploads that wait and the devices under way it must have enough updates. Without places nothing
   * is known about coming devices, so all are admitted.
   */
  async versionOver(user: UserId, version: number): Promise<Refused | undefined> {
    if (!this.#isUsed || version >= this.#newestVersion) return undefined;
    const { placeTable, store, task, leastOfVersion } = this.#options;
    this.#underWay = await placeTable.underWay(task);
    const own = (await placeTable.has(task, user)) ? 1 : 0;
    const others = Math.max(0, this.#comingOn(version) - own) + (await store.othersOn(task, version, user));
    if (others + 1 >= leastOfVersion) return undefined;
    return refused('version-over', { detail: `version ${version}; version ${this.#newestVersion} is the newest` });
  }

  /** The device's only message has arrived. */
  gave(user: UserId): void {
    this.#pace.end(user, this.#options.clock());
  }

  /** The device gave up its place, or has used it for an update that was refused. */
  async discard(user: UserId): Promise<void> {
    this.#pace.forget(user);
    await this.#options.placeTable.free(this.#options.task, user);
  }

  trackBatch({ ctx, status }: Pick<ShotBatch, 'ctx' | 'status'>): void {
    const name = toHex(ctx);
    if (status === 'frozen' || status === 'granted') {
      this.#waiting.add(name);
      return;
    }
    this.#waiting.delete(name);
    this.#aside.delete(name);
  }

  /**
   * No device waits for a sum that cannot be closed because authorities do not answer. New sums are gathered without it, so that a fleet
   * continues while an authority is down.
   */
  setAside({ ctx }: Pick<ShotBatch, 'ctx'>): void {
    this.#aside.add(toHex(ctx));
  }

  get #waitingSums(): number {
    return [...this.#waiting].filter((name) => !this.#aside.has(name)).length;
  }

  /** The newest version, made here or at another node. */
  meetVersion({ version }: Pick<StoredModel, 'version'>): void {
    if (version <= this.#newestVersion) return;
    this.#newestVersion = version;
    this.#quietSince = undefined;
  }

  /**
   * The number of devices that may still come with an update on the version, as of the last look; undefined without
   * limit.
   */
  coming(version: number): number | undefined {
    const isOpenToAll = !this.#isUsed || version >= this.#newestVersion;
    return isOpenToAll ? undefined : this.#comingOn(version);
  }

  #comingOn(version: number): number {
    return this.#underWay.get(version) ?? 0;
  }

  /** Checks whether any device is on the way. */
  async look(): Promise<void> {
    const { placeTable, task, clock } = this.#options;
    this.#count = await placeTable.count(task);
    this.#underWay = await placeTable.underWay(task);
    const isQuiet = this.#comingOn(this.#newestVersion) === 0;
    this.#quietSince = isQuiet ? (this.#quietSince ?? clock()) : undefined;
  }

  /**
   * The time for which no device has been on the way with an update on the version; 0 if devices do not ask for places.
   * Infinite if it is an older version and no device is on the way with an update on it: none will come.
   */
  quietMs(version: number): number {
    if (!this.#isUsed) return 0;
    if (this.coming(version) === 0) return Number.POSITIVE_INFINITY;
    const isOther = version !== this.#newestVersion;
    return this.#quietSince === undefined || isOther ? 0 : this.#options.clock() - this.#quietSince;
  }

  /** As of the last look. */
  get view(): AdmissionView {
    const underWay = [...this.#underWay.values()].reduce((sum, count) => sum + count, 0);
    return { places: this.#options.places, underWay, ...this.#count, waitingBuffers: this.#waitingSums };
  }
}

const MAX_SAMPLES = 256;
/** Fewer do not show the slowest. */
const MIN_SAMPLES = 2;
/** A device is late after this many times the time that nearly all devices need. */
const MARGIN = 3;
const NEARLY_ALL = 0.9;
const MIN_LEASE_MS = 5_000;
/** The share of the longest lease before anything is known. */
const FIRST_SHARE = 1 / 8;

/** How long places last: as long as nearly all devices need from their place to their update. */
export class Pace {
  readonly #newest: number[] = [];
  #next = 0;
  readonly #begun = new Map<string, number>();

  begin(user: UserId, now: number): void {
    if (!this.#begun.has(toHex(user))) remember(this.#begun, toHex(user), now);
  }

  end(user: UserId, now: number): void {
    const since = this.#begun.get(toHex(user));
    if (since === undefined) return;
    this.#newest[this.#next] = now - since;
    this.#next = (this.#next + 1) % MAX_SAMPLES;
    this.forget(user);
  }

  forget(user: UserId): void {
    this.#begun.delete(toHex(user));
  }

  /** A short lease does not harm an honest device: its place lapses while it trains, but it still comes with its update. */
  leaseMs(longestMs: number): number {
    const { length } = this.#newest;
    const usual = [...this.#newest].sort((a, b) => a - b)[Math.min(length - 1, Math.floor(NEARLY_ALL * length))];
    const wantedMs = usual === undefined || length < MIN_SAMPLES ? FIRST_SHARE * longestMs : MARGIN * usual;
    return Math.round(Math.min(longestMs, Math.max(MIN_LEASE_MS, wantedMs)));
  }
}

/** Sets the value as the newest of the map, which forgets its oldest when it holds more than `most`. */
export function remember<Value>(values: Map<string, Value>, name: string, value: Value, most = 10_000): void {
  values.delete(name); // otherwise it would keep its old position
  values.set(name, value);
  const [oldest = name] = values.keys();
  if (values.size > most) values.delete(oldest);
}

/** One device gets at most this share of the limit, so that a few devices that keep asking do not use it up. */
const SHARE = 1 / 10;

/** Limits the place requests of a task: those of all its devices together, and those of each device to a share of that. */
export class TaskLimits {
  readonly #tasks: TokenBuckets;
  readonly #devices: TokenBuckets;

  constructor(limit: RateLimit) {
    const { burst, perSecond } = limit;
    this.#tasks = new TokenBuckets(limit);
    this.#devices = new TokenBuckets({ burst: Math.max(1, SHARE * burst), perSecond: SHARE * perSecond });
  }

  /** Counts a request of a device of the task. Returns the time to wait if it is one too many; then it does not count for the task. */
  take(task: string, user: UserId, now: number): { readonly retryAfterMs: number } | undefined {
    return this.#devices.take(`${task} ${toHex(user)}`, now) ?? this.#tasks.take(task, now);
  }
}
