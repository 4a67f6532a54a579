/** Admission to a running task: which devices may train now and for how long, and when no other device is on the way. */
import { toHex } from '@basa/masking';
import { type Refused, refused, type TaskId, type UserId } from '@basa/protocol';
import type { Gathering } from '@basa/protocol/http';
import { Admission } from '@basa/protocol/one-shot';
import { type RateLimit, TokenBuckets } from '@basa/service';
import type { AdmissionNumbers } from '../specification/task-specification.ts';
import type { Store } from '../store/store.ts';
import type { PlaceCount, Places } from './places.ts';

export interface AdmissionContext {
  readonly task: TaskId;
  readonly numbers: AdmissionNumbers;
  readonly store: Pick<Store, 'othersOn'>;
  readonly placeTable: Places;
  readonly clock: () => number;
  /** The newest version, made here or at another node; -1 before the first. */
  newest(): number;
}

interface Later {
  readonly kind: 'later';
  readonly why: string;
  readonly retryAfterMs: number;
  /** If too few devices take part. */
  readonly gathering: Gathering | undefined;
}
export type PlaceAnswer = Later | { readonly kind: 'place'; readonly leftMs: number };

/** The user of no device. */
const NOBODY = new Uint8Array(32) as UserId;

const WHY: Readonly<Record<Exclude<Admission.Admitted, 'place'>, string>> = {
  given: 'the last update of this device is in no version yet, or is on the newest version',
  full: 'every place is taken',
  backlog: 'batches are waiting to be opened',
  few: 'too few devices that could contribute to this version have asked for a place',
};

export class TaskAdmission {
  readonly #context: AdmissionContext;
  /** In [0, 1): spreads devices that were told to come back. */
  readonly #jitter: () => number;
  readonly #pace = new Pace();
  /** The time since which no device is under way with an update on this version, the newest one. */
  #quiet: { readonly version: number; readonly since: number | undefined } = { version: -1, since: undefined };
  #isUsed = false;
  /** As of the last look or answer. */
  #count: PlaceCount = { used: 0, waiting: 0, waitingSums: 0 };
  #underWay: ReadonlyMap<number, number> = new Map();

  constructor(context: AdmissionContext, jitter: () => number = Math.random) {
    this.#context = context;
    this.#jitter = jitter;
  }

  async ask(user: UserId): Promise<PlaceAnswer> {
    this.#isUsed = true;
    const { task, placeTable, clock, numbers, newest } = this.#context;
    const { places, uploadLeaseMs, minimum, privateWithinMs } = numbers;
    const version = newest();
    const { admitted, leftMs, fresh, ...count } = await placeTable.take(task, user, {
      version: Math.max(0, version),
      places,
      least: privateWithinMs === undefined ? 0 : minimum,
      withinMs: privateWithinMs ?? 0,
      leaseMs: this.#pace.leaseMs(uploadLeaseMs),
    });
    this.#count = count;
    if (admitted !== 'place') {
      const gathering = await this.#gathering(admitted, fresh);
      return {
        kind: 'later',
        why: WHY[admitted],
        retryAfterMs: Admission.retryAfterMs(count.waiting, this.#jitter()),
        gathering,
      };
    }
    this.#quiet = { version, since: undefined };
    this.#pace.begin(user, clock());
    return { kind: 'place', leftMs };
  }

  /** What the next version lacks, if that is what the device waits for. */
  async #gathering(admitted: Exclude<Admission.Admitted, 'place'>, fresh: number): Promise<Gathering | undefined> {
    const { newest } = this.#context;
    const { minimum: least, privateWithinMs } = this.#context.numbers;
    if (admitted === 'full' || admitted === 'backlog') return undefined;
    const have = privateWithinMs !== undefined ? fresh : await this.gathered();
    return have === 0 || have >= least ? undefined : { have, least, version: newest() + 1 };
  }

  /** The number of updates on the newest version that are in no batch. They wait for others even when the places of their devices have ended. */
  gathered(): Promise<number> {
    const { store, task, newest } = this.#context;
    return store.othersOn(task, newest(), NOBODY);
  }

  /**
   * Returns the reason why an update on this version can no longer be in a sum: no device begins on an older version any
   * more, so that with the uploads that wait and the devices under way it must have enough updates. Without places nothing
   * is known about coming devices, so all are admitted.
   */
  async versionOver(user: UserId, version: number): Promise<Refused | undefined> {
    const { placeTable, store, task, numbers, newest } = this.#context;
    if (!this.#isUsed || version >= newest()) return undefined;
    this.#underWay = await placeTable.underWay(task);
    const own = (await placeTable.has(task, user)) ? 1 : 0;
    const others = Math.max(0, this.#comingOn(version) - own) + (await store.othersOn(task, version, user));
    if (others + 1 >= numbers.leastOfVersion) return undefined;
    return refused('version-over', { detail: `version ${version}; version ${newest()} is the newest` });
  }

  /** The device's only message has arrived. */
  gave(user: UserId): void {
    this.#pace.end(user, this.#context.clock());
  }

  /** The device gave up its place, or has used it for an update that was refused. */
  async discard(user: UserId): Promise<void> {
    this.#pace.forget(user);
    await this.#context.placeTable.free(this.#context.task, user);
  }

  /**
   * The number of devices that may still come with an update on the version, as of the last look; undefined without
   * limit.
   */
  coming(version: number): number | undefined {
    const isOpenToAll = !this.#isUsed || version >= this.#context.newest();
    return isOpenToAll ? undefined : this.#comingOn(version);
  }

  #comingOn(version: number): number {
    return this.#underWay.get(version) ?? 0;
  }

  /** Checks whether any device is on the way. */
  async look(): Promise<void> {
    const { placeTable, task, clock, newest } = this.#context;
    this.#count = await placeTable.count(task);
    this.#underWay = await placeTable.underWay(task);
    const version = newest();
    const since = this.#quiet.version === version ? this.#quiet.since : undefined;
    this.#quiet = { version, since: this.#comingOn(version) === 0 ? (since ?? clock()) : undefined };
  }

  /**
   * The time for which no device has been on the way with an update on the version; 0 if devices do not ask for places.
   * Infinite if it is an older version and no device is on the way with an update on it: none will come.
   */
  quietMs(version: number): number {
    if (!this.#isUsed) return 0;
    if (this.coming(version) === 0) return Number.POSITIVE_INFINITY;
    const { version: newest, since } = this.#quiet;
    return since === undefined || version !== newest ? 0 : this.#context.clock() - since;
  }

  /** As of the last look. */
  get view(): Admission.AdmissionView {
    const { waitingSums, ...count } = this.#count;
    const underWay = [...this.#underWay.values()].reduce((sum, devices) => sum + devices, 0);
    return { places: this.#context.numbers.places, underWay, ...count, waitingBatches: waitingSums };
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
