/**
 * The learned model depends on who trained on which version and in which order, not on the times. A schedule is
 * therefore reduced to its order; every order is trained once, and priced by each schedule that has it.
 */
import { createHash } from 'node:crypto';
import type { TimedEvent } from '../timed/trip.ts';

/** One update of a version: its user, the version it was trained on, and its weight. */
export interface OrderedUpdate {
  readonly user: number;
  readonly trip: number;
  readonly trainedOn: number;
  readonly weight: number;
}

/** The updates of each version, from version 1 on. */
export type Order = readonly (readonly OrderedUpdate[])[];

export interface Schedule {
  readonly order: Order;
  /** The time at which each version of `order` was made. */
  readonly times: readonly number[];
  readonly trips: number;
  readonly lost: number;
  readonly droppedOut: number;
  readonly meanStaleness: number;
  /**
   * The mean number of versions between the one an update was trained on and the one before its own, including the time
   * it waited to be opened.
   */
  readonly meanAge: number;
}

/** The first `versions` of a simulation, or those of its first `seconds`. */
export function scheduleOf(
  events: Iterable<TimedEvent>,
  versions: number,
  seconds = Number.POSITIVE_INFINITY,
): Schedule {
  const order: OrderedUpdate[][] = [];
  const times: number[] = [];
  let [trips, lost, droppedOut, staleness, age, updates] = [0, 0, 0, 0, 0, 0];
  for (const event of events) {
    if (event.time > seconds) break;
    if (event.kind === 'departed') trips++;
    else if (event.kind === 'ended') {
      if (event.fate === 'lost' || event.fate === 'stale') lost++;
      if (event.fate === 'dropped-out') droppedOut++;
    } else {
      for (const { trip } of event.included) age += order.length - trip.version;
      order.push(
        event.included.map(({ trip: { user, number, version }, weight }) => ({
          user,
          trip: number,
          trainedOn: version,
          weight,
        })),
      );
      times.push(event.time);
      for (const update of event.included) staleness += update.staleness;
      updates += event.included.length;
      if (order.length === versions) break;
    }
  }
  const mean = (sum: number): number => (updates === 0 ? 0 : sum / updates);
  return { order, times, trips, lost, droppedOut, meanStaleness: mean(staleness), meanAge: mean(age) };
}

/** Returns a name for an order of updates and all other inputs of the training. */
export function orderDigest(order: Order, ...rest: readonly (string | number)[]): string {
  const hash = createHash('sha256').update(rest.join(' '));
  for (const version of order) {
    hash.update('|');
    for (const { user, trip, trainedOn, weight } of version) hash.update(`${user},${trip},${trainedOn},${weight};`);
  }
  return hash.digest('hex').slice(0, 24);
}
