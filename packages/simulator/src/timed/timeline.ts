/** Virtual time: the trips of all users. The scheme decides what happens with a trained update. */
import { randomStream } from '@basa/learning';
import { AdmissionGate } from './admission-gate.ts';
import { drawDelay } from './delay.ts';
import { EventQueue } from './event-queue.ts';
import type { Arrivals, Fate, Fleet, Included, TimedEvent, Trip } from './trip.ts';

/** For events at the same time: finished work goes first, new trips come last. */
export const PRIORITY = { finish: 0, step: 1, trained: 2, start: 3 } as const;

/** A protocol in time: receives each trained update, and reports when its user is free and when a version is made. */
export interface Scheme {
  trained(trip: Trip): void;
  /** The utilisation of its parts, by name. */
  utilisation(time: number): Readonly<Record<string, number>>;
}

export class Timeline {
  readonly fleet: Fleet;
  readonly #queue = new EventQueue<() => void>();
  readonly #news: TimedEvent[] = [];
  readonly #isBusy: Uint8Array;
  readonly #freeLanes: number[];
  /** Without a gate, every user may train. */
  readonly gate: AdmissionGate | undefined;
  #scheme: Scheme | undefined;
  #setOuts = 0;
  #trips = 0;
  #turnedAway = 0;
  /** The number of users that were told to come back: each of them will need a lane. */
  #asking = 0;
  now = 0;
  version = 0;

  constructor(fleet: Fleet) {
    if (fleet.concurrency > fleet.users) {
      throw new RangeError(`${fleet.users} users cannot keep ${fleet.concurrency} training`);
    }
    this.fleet = fleet;
    this.#isBusy = new Uint8Array(fleet.users);
    this.#freeLanes = Array.from({ length: fleet.concurrency }, (_, n) => fleet.concurrency - 1 - n);
    this.gate = fleet.admission === undefined ? undefined : new AdmissionGate(fleet.admission, fleet.seed);
  }

  get trips(): number {
    return this.#trips;
  }

  /** The number of users that came while all places were taken. */
  get turnedAway(): number {
    return this.#turnedAway;
  }

  /** Runs without end if no time is given: the reader decides when it has seen enough. */
  *run(scheme: Scheme, untilSeconds = Number.POSITIVE_INFINITY): Generator<TimedEvent, undefined> {
    this.#scheme = scheme;
    const { arrivals, concurrency } = this.fleet;
    if (arrivals.kind === 'closed') for (let n = 0; n < concurrency; n++) this.#setOut();
    else this.#arrive(arrivals);
    for (;;) {
      yield* this.#news.splice(0);
      const next = this.#queue.pop();
      if (next === undefined || next.time > untilSeconds) return;
      this.now = next.time;
      next.event();
    }
  }

  at(time: number, priority: number, act: () => void): void {
    this.#queue.push(time, priority, act);
  }

  /** Frees the user. In a closed system another user starts immediately. */
  end(trip: Trip, fate: Fate): void {
    this.#isBusy[trip.user] = 0;
    this.#freeLanes.push(trip.lane);
    this.#news.push({ kind: 'ended', time: this.now, trip, fate });
    this.gate?.left(trip.user);
    if (this.fleet.arrivals.kind === 'closed') this.at(this.now, PRIORITY.start, () => this.#setOut());
  }

  /** Includes an update now, with the staleness it has at this moment. */
  include(trip: Trip): Included {
    const staleness = this.version - trip.version;
    // With one version per buffer the server weights the whole sum.
    const weight = this.fleet.versions === 'one' ? 1 : this.fleet.weightOf(staleness);
    return { trip, staleness, weight };
  }

  publish(included: readonly Included[]): void {
    const meanAge = included.reduce((sum, { trip }) => sum + this.version - trip.version, 0) / included.length;
    this.gate?.versionMade(this.version + 1);
    this.#news.push({ kind: 'version', time: this.now, version: ++this.version, included, meanAge });
  }

  #arrive(arrivals: Exclude<Arrivals, { kind: 'closed' }>): void {
    this.at(this.now + 1 / arrivals.perSecond, PRIORITY.start, () => {
      if (this.#freeLanes.length > this.#asking) this.#setOut();
      else this.#turnedAway++;
      this.#arrive(arrivals);
    });
  }

  /** A user that is willing to train: it departs if it is admitted, and asks again later if it is not. */
  #setOut(): void {
    const number = this.#setOuts++;
    const user = this.#idleUser(number);
    this.#isBusy[user] = 1;
    this.#ask(number, user);
  }

  #ask(number: number, user: number): void {
    const againIn = this.gate?.ask(user, this.version);
    if (againIn === undefined) {
      this.#depart(number, user);
      return;
    }
    this.#asking++;
    this.at(this.now + againIn, PRIORITY.start, () => {
      this.#asking--;
      this.#ask(number, user);
    });
  }

  #depart(number: number, user: number): void {
    const { fleet, now, version } = this;
    this.#trips++;
    const lane = this.#freeLanes.pop() as number;
    const trip = { number, user, lane, version, departed: now, dropsOut: dropsOut(fleet, number) };
    this.#news.push({ kind: 'departed', time: now, trip });
    const scheme = this.#scheme as Scheme;
    this.at(now + tripSeconds(fleet, trip), PRIORITY.trained, () => scheme.trained(trip));
  }

  #idleUser(number: number): number {
    return selectUser(this.fleet, number, (user) => this.#isBusy[user] === 1);
  }
}

/**
 * Returns the same user for the same trip under every protocol, unless that user is busy in one of them: then only that
 * trip takes its next draw.
 */
export function selectUser({ users, seed }: Fleet, trip: number, isBusy: (user: number) => boolean): number {
  const selection = randomStream(seed, 'select', trip);
  for (;;) {
    const user = selection.below(users);
    if (!isBusy(user)) return user;
  }
}

export function dropsOut({ dropouts, seed }: Fleet, trip: number): boolean {
  return dropouts > 0 && randomStream(seed, 'drop-out', trip).unit() < dropouts;
}

/** Train, wait: the same draw for the same trip under every protocol. */
export function tripSeconds(fleet: Fleet, { number, user }: Pick<Trip, 'number' | 'user'>): number {
  const stream = randomStream(fleet.seed, 'delay', number);
  return (fleet.slowdown?.(user) ?? 1) * (fleet.computeSeconds(user) + drawDelay(fleet.delay, stream));
}
