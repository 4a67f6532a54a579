/** Admission to a running task: which devices may train now and for how long, and when no other device is on the way. */
import { toHex } from '@basa/masking';
import {
  Admission,
  type AdmissionOptions,
  type AdmissionView,
  type BufferFill,
  keptMs,
  type Refused,
  type ShotBatch,
  type TaskId,
  type UserId,
} from '@basa/protocol';
import { isEnded } from '../store/batches.ts';
import type { StoredModel } from '../store/models.ts';
import { Span } from './pace.ts';
import type { PlaceCount, Placed, PlaceWish } from './places.ts';
import type { PlaceEnd, Tickets } from './tickets.ts';

export interface TaskAdmissionOptions extends AdmissionOptions {
  readonly task: TaskId;
  readonly tickets: Tickets;
  readonly clock: () => number;
  /** In [0, 1): spreads devices that were told to come back. */
  jitter(): number;
  /** No place lasts longer before its update. */
  readonly uploadLeaseMs: number;
}

interface Later {
  readonly kind: 'later';
  readonly why: string;
  readonly retryAfterMs: number;
}
export type PlaceAnswer = Later | { readonly kind: 'place'; readonly leftMs: number };

const WHY = {
  holds: 'the last update of this device is not in a version yet, or is on the newest version',
  full: 'every place is taken',
  behind: 'the free places are reserved for devices that have waited longer',
  backlog: 'batches are waiting to be opened',
} as const;

export class TaskAdmission {
  readonly #options: TaskAdmissionOptions;
  readonly #admission: Admission;
  readonly #toUpload = new Span();
  /** Batches whose authorities did not answer, until they end. */
  readonly #aside = new Set<string>();
  #newestVersion = -1;
  /** The time since which no device is under way with an update on the newest version. */
  #quietSince: number | undefined;
  #isUsed = false;
  /** Users that gave their place back since the newest version: they had nothing new, or left. */
  readonly #returned = new Set<string>();
  /** As of the last look or answer. */
  #crowd: PlaceCount = { underWay: 0, waiting: 0, byVersion: new Map() };

  constructor(options: TaskAdmissionOptions) {
    this.#options = options;
    this.#admission = new Admission(options);
  }

  /** `unused` is the number of places that the device recently left unused. */
  async ask(user: UserId, unused = 0): Promise<PlaceAnswer> {
    this.#isUsed = true;
    const { tickets, task } = this.#options;
    const { wish, told } = this.#wishOf(user, unused);
    const placed = await tickets.ask(task, user, wish);
    this.#noted(user, placed);
    return placed.leftMs === undefined ? told() : { kind: 'place', leftMs: placed.leftMs };
  }

  /**
   * Returns the reason why an update on this version can no longer be in a sum. Without places nothing is known about
   * coming devices, so all are admitted.
   */
  async versionOver(user: UserId, version: number): Promise<Refused | undefined> {
    if (!this.#isUsed || version >= this.#newestVersion) return undefined;
    const { tickets, task } = this.#options;
    this.#crowd = await tickets.count(task);
    const own = (await tickets.hasPlace(task, user)) ? 1 : 0;
    return this.#admission.versionOver(version, Math.max(0, this.#comingOn(version) - own));
  }

  /** The device's only message has arrived: its place is free immediately. */
  gave(user: UserId): void {
    const now = this.#options.clock();
    this.#toUpload.end(user, now);
    this.#admission.freed(1, now);
  }

  /** The device gave up its place, or has used it for an update that came too late. */
  async discard(user: UserId, how: PlaceEnd): Promise<void> {
    this.#toUpload.forget(user);
    const { tickets, task, clock } = this.#options;
    if (!(await tickets.endPlace(task, user, how))) return;
    // Not before: anybody can give back a place that they do not have.
    if (how === 'returned') this.#returned.add(toHex(user));
    this.#admission.freed(1, clock());
  }

  /** A batch accepts no further device. */
  trackBatch({ ctx, users, rules, status }: ShotBatch): void {
    const { version } = rules;
    const stage = stageOf(status);
    this.#track(toHex(ctx), { users: users.map(toHex), awaited: [], stage, live: users.length, version });
  }

  /** Updates on a version that are in no batch yet count like a sum that others can still enter. */
  trackWaiting(version: number, users: readonly UserId[]): void {
    const stage = users.length === 0 ? 'over' : 'begun';
    this.#track(`version ${version}`, { users: users.map(toHex), awaited: [], stage, live: users.length, version });
  }

  #track(name: string, fill: BufferFill): void {
    if (fill.stage === 'over') this.#aside.delete(name);
    const known = this.#aside.has(name) ? { ...fill, stage: 'over' as const } : fill;
    this.#admission.track(name, known, this.#options.clock());
  }

  /**
   * No device waits for a sum that cannot be closed because authorities do not answer. New sums are gathered without it, so that a fleet
   * continues while an authority is down.
   */
  setAside({ ctx }: Pick<ShotBatch, 'ctx'>): void {
    this.#aside.add(toHex(ctx));
    this.#track(toHex(ctx), { users: [], awaited: [], stage: 'begun', live: 0 });
  }

  /** The newest version, made here or at another node. */
  meetVersion({ version, meanAge }: Pick<StoredModel, 'version' | 'meanAge'>): void {
    if (version <= this.#newestVersion) return;
    this.#newestVersion = version;
    this.#quietSince = undefined;
    this.#returned.clear();
    this.#admission.versionMade(version, meanAge);
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
    return this.#crowd.byVersion.get(version) ?? 0;
  }

  /** Checks whether any device is on the way. */
  async look(): Promise<void> {
    const { tickets, task, clock } = this.#options;
    this.#crowd = await tickets.count(task);
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
    return { ...this.#admission.view(this.#crowd), returned: this.#returned.size };
  }

  /** `told`: the answer to the device if it gets no place. */
  #wishOf(user: UserId, unused: number): { readonly wish: PlaceWish; told(): Later } {
    const { clock, jitter, uploadLeaseMs } = this.#options;
    let later: Later | undefined;
    const wish: PlaceWish = {
      version: Math.max(0, this.#newestVersion),
      leaseMs: (isIdle) => this.#toUpload.leaseMs(user, unused + (isIdle ? 1 : 0), uploadLeaseMs),
      decide: (crowd) => {
        const judged = this.#admission.judge(toHex(user), crowd);
        if (judged === 'place') return judged;
        const retryAfterMs = this.#admission.retryAfterMs(crowd, clock(), jitter());
        later = { kind: 'later', why: WHY[judged], retryAfterMs };
        // A device that could not use a free place does not wait in the line.
        if (judged === 'holds') return { keptMs: 0 };
        this.#crowd = { ...this.#crowd, underWay: crowd.underWay, waiting: Math.max(crowd.waiting, crowd.ahead + 1) };
        return { keptMs: keptMs(retryAfterMs) };
      },
    };
    return { wish, told: () => later as Later };
  }

  #noted(user: UserId, { leftMs, underWay, lapsed, isIdle }: Placed): void {
    const now = this.#options.clock();
    if (lapsed > 0) this.#admission.freed(lapsed, now);
    if (isIdle) this.#toUpload.forget(user);
    if (leftMs === undefined) return;
    this.#quietSince = undefined;
    this.#crowd = { ...this.#crowd, underWay };
    this.#admission.placed(underWay);
    if (!this.#toUpload.has(user)) this.#toUpload.begin(user, now);
  }
}

/** An opened batch that waits for others is not backlog: there is nothing left to do for it. */
function stageOf(status: ShotBatch['status']): BufferFill['stage'] {
  if (status === 'opened') return 'opened';
  return isEnded(status) ? 'over' : 'waiting';
}
