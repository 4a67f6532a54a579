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

/** Never ends. Users that drop out leave before they upload, and the server notices this immediately, which favours rounds. */
export function* rounds(fleet: Fleet, costs: RoundCosts): Generator<TimedEvent, undefined> {
  let time = 0;
  let version = 0;
  for (let round = 0; ; round++) {
    const trips = cohort(fleet, round).map((user, n): Trip => {
      const number = round * fleet.concurrency + n;
      return { number, user, lane: n, version, departed: time, dropsOut: dropsOut(fleet, number) };
    });
    for (const trip of trips) yield { kind: 'departed', time, trip };
    const stayed = trips.filter(({ dropsOut }) => !dropsOut);
    time += roundSeconds(fleet, costs, trips, stayed);
    for (const trip of trips) yield { kind: 'ended', time, trip, fate: trip.dropsOut ? 'dropped-out' : 'taken' };
    if (stayed.length < costs.threshold) continue;
    const included = stayed.map((trip): Included => ({ trip, staleness: 0, weight: 1 }));
    yield { kind: 'version', time, version: ++version, included, meanAge: 0 };
  }
}

function roundSeconds(fleet: Fleet, costs: RoundCosts, trips: readonly Trip[], stayed: readonly Trip[]): number {
  const { setupSeconds, isOverlapped, maskSeconds, recoverySeconds } = costs;
  const slowest = Math.max(0, ...stayed.map((trip) => tripSeconds(fleet, trip)));
  const trained = isOverlapped ? Math.max(setupSeconds, slowest) : setupSeconds + slowest;
  return trained + maskSeconds + recoverySeconds(trips.length - stayed.length);
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
