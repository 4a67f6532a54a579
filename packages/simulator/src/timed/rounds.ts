/** Synchronous federated learning: a round is as slow as the slowest of its users. */
import { dropsOut, selectUser, tripSeconds } from './timeline.ts';
import type { Fleet, Included, TimedEvent, Trip } from './trip.ts';

/** `concurrency` of the fleet is n, the users of a round. Seconds of one user; all users work at the same time. */
export interface RoundCosts {
  /** Before the training: keys and shares. */
  readonly setupSeconds: number;
  /** True if the set-up runs during the training. */
  readonly isOverlapped: boolean;
  /** After the training: quantise and mask. */
  readonly maskSeconds: number;
  /** Time of users and server after the last upload, by the number of users that dropped out. */
  readonly recoverySeconds: (dropped: number) => number;
  /** With fewer uploads than this, the round fails. */
  readonly threshold: number;
}

/** Over-selection: a round ends before all of its users have uploaded. Those that are late have trained for nothing. */
export interface RoundEnd {
  /** The round ends with this many uploads. */
  readonly first?: number | undefined;
  /** The round ends this long after the users began to train, if there are uploads enough for a sum. */
  readonly deadlineSeconds?: number | undefined;
}

/** Never ends. Users that drop out leave before they upload, and the server notices this immediately, which favours rounds. */
export function* rounds(fleet: Fleet, costs: RoundCosts, end: RoundEnd = {}): Generator<TimedEvent, undefined> {
  let time = 0;
  let version = 0;
  for (let round = 0; ; round++) {
    const trips = cohort(fleet, round).map((user, n): Trip => {
      const number = round * fleet.concurrency + n;
      return { number, user, lane: n, version, departed: time, dropsOut: dropsOut(fleet, number) };
    });
    for (const trip of trips) yield { kind: 'departed', time, trip };
    const uploads = uploadsOf(fleet, costs, trips, end);
    const taken = new Set(uploads.map(({ trip }) => trip));
    time += roundSeconds(costs, trips.length, uploads, end);
    for (const trip of trips)
      yield { kind: 'ended', time, trip, fate: trip.dropsOut ? 'dropped-out' : taken.has(trip) ? 'taken' : 'lost' };
    if (uploads.length < costs.threshold) continue;
    const included = trips
      .filter((trip) => taken.has(trip))
      .map((trip): Included => ({ trip, staleness: 0, weight: 1 }));
    yield { kind: 'version', time, version: ++version, included, meanAge: 0 };
  }
}

interface Upload {
  readonly trip: Trip;
  /** Since the users began to train. */
  readonly seconds: number;
}

/** The uploads for which the round waits, the earliest first. */
function uploadsOf(fleet: Fleet, { threshold }: RoundCosts, trips: readonly Trip[], end: RoundEnd): readonly Upload[] {
  const { first = trips.length, deadlineSeconds = Number.POSITIVE_INFINITY } = end;
  return trips
    .filter(({ dropsOut }) => !dropsOut)
    .map((trip) => ({ trip, seconds: tripSeconds(fleet, trip) }))
    .sort((a, b) => a.seconds - b.seconds)
    .filter(({ seconds }, n) => n < first && (seconds <= deadlineSeconds || n < threshold));
}

/** The server knows whether all users have uploaded, or as many as it waits for; otherwise it waits until the deadline. */
function roundSeconds(
  costs: RoundCosts,
  users: number,
  uploads: readonly Upload[],
  { first = users, deadlineSeconds = 0 }: RoundEnd,
): number {
  const { setupSeconds, isOverlapped, maskSeconds, recoverySeconds } = costs;
  const last = uploads.at(-1)?.seconds ?? 0;
  const slowest = uploads.length === Math.min(first, users) ? last : Math.max(last, deadlineSeconds);
  const trained = isOverlapped ? Math.max(setupSeconds, slowest) : setupSeconds + slowest;
  return trained + maskSeconds + recoverySeconds(users - uploads.length);
}

/** Draws different users, uniformly. */
function cohort(fleet: Fleet, round: number): number[] {
  const { users, concurrency } = fleet;
  if (concurrency > users) throw new RangeError(`round ${round}: ${users} users are no cohort of ${concurrency}`);
  const chosen = new Set<number>();
  for (let n = 0; n < concurrency; n++) {
    chosen.add(selectUser(fleet, round * concurrency + n, (user) => chosen.has(user)));
  }
  return [...chosen];
}
