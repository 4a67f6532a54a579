/**
 * The times at which trips depart and arrive, in virtual time. They depend neither on model nor on data, so that an
 * interrupted run finds its place again by playing its schedule from the start, without any training.
 */
import { power } from '../numbers/exact-math.ts';
import { type RandomStream, randomStream } from '../numbers/random-stream.ts';

export interface FedBuffSchedule {
  readonly users: number;
  readonly concurrency: number;
  readonly bufferSize: number;
  readonly versions: number;
  /** The weight of an update of this age in versions; an update of weight zero is left out. */
  readonly weightOf: (staleness: number) => number;
  readonly seed: number;
  /** Mean of the exponential delay of a trip, in addition to one unit of training. */
  readonly delay: number;
}

/** (1 + tau)^-exponent, tau the versions that passed since the model was downloaded. FedBuff's exponent is 1/2. */
export function agedWeight(tau: number, exponent = 0.5): number {
  return power(1 + tau, -exponent);
}

export interface Trip {
  readonly user: number;
  readonly trip: number;
  /** The version that the trip downloaded. */
  readonly version: number;
  /** The time at which it arrives. */
  readonly end: number;
  /** The seed of its training. */
  readonly seed: number;
}

export type FedBuffEvent =
  | { readonly kind: 'departed'; readonly trip: Trip }
  | { readonly kind: 'arrived'; readonly trip: Trip; readonly staleness: number; readonly weight: number }
  /** The last arrival filled the buffer. */
  | { readonly kind: 'version'; readonly version: number; readonly time: number };

export function* fedBuffSchedule(run: FedBuffSchedule): Generator<FedBuffEvent, undefined> {
  const selection = randomStream(run.seed, 'select');
  const training: Trip[] = [];
  let trips = 0;
  let version = 0;
  let filled = 0;
  const depart = (time: number): FedBuffEvent => {
    const user = idleUser(run.users, training, selection);
    const number = trips++;
    const end = time + 1 + run.delay * randomStream(run.seed, 'delay', number).exponential();
    const seed = randomStream(run.seed, 'batch', user, number).u32();
    const trip = { user, trip: number, version, end, seed };
    training.push(trip);
    return { kind: 'departed', trip };
  };
  while (training.length < run.concurrency) yield depart(0);
  while (version < run.versions) {
    const trip = takeEarliest(training);
    const staleness = version - trip.version;
    const weight = run.weightOf(staleness);
    yield { kind: 'arrived', trip, staleness, weight };
    if (weight > 0) filled++;
    if (filled === run.bufferSize) {
      filled = 0;
      yield { kind: 'version', version: ++version, time: trip.end };
    }
    yield depart(trip.end);
  }
}

function idleUser(users: number, training: readonly Trip[], selection: RandomStream): number {
  if (training.length >= users) throw new RangeError(`${users} users cannot keep more than ${users} training`);
  for (;;) {
    const user = selection.below(users);
    if (training.every((trip) => trip.user !== user)) return user;
  }
}

/** Returns the trip that ends first. If several end at the same time, returns the trip that started first. */
function takeEarliest(training: Trip[]): Trip {
  let best = 0;
  for (let n = 1; n < training.length; n++) {
    const [a, b] = [training[n] as Trip, training[best] as Trip];
    if (a.end < b.end || (a.end === b.end && a.trip < b.trip)) best = n;
  }
  return training.splice(best, 1)[0] as Trip;
}
