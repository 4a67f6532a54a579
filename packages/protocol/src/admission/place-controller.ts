/**
 * The number of devices that may be under way at a time. A place is held from admission until its update is in a version, so with full
 * places Little's law gives mean age = places / K - 1. The controller changes the number until the age meets the target.
 *
 * The simple rule places <- places * target / age grows without bound on small fleets and oscillates on large ones. For this reason there
 * are a long interval, a dead band, a small factor, and a bound by the places that were really used.
 */

export interface PlaceOptions {
  /** The number of updates in a version: K, or a multiple if it is made of several sums. */
  readonly bufferSize: number;
  /** A fixed number, or `auto` for the controller. */
  readonly places: number | 'auto';
  /** The mean age of a sum that the controller aims at. */
  readonly targetAge: number;
}

/** Plain data: may be kept, and is the same after the same calls. */
export interface PlaceState {
  readonly places: number;
  /** Versions and the sum of their mean ages since the last look. */
  readonly versions: number;
  readonly ageSum: number;
  /** The most places that were taken at a time since the last look. */
  readonly maxUsed: number;
}

export const DEFAULT_TARGET_AGE = 3;

/** A factor within this band changes nothing. */
const DEAD_BAND = [0.9, 1.1] as const;
/** One look changes the number by no more than this. */
const CHANGE = [0.8, 1.25] as const;
/** Places in addition to those of a buffer. With only K places, one drop-out would delay all devices. */
const MIN_SPARE = 2;

export function startPlaces(options: PlaceOptions): PlaceState {
  const places = options.places === 'auto' ? wantedPlaces(options) : options.places;
  return { places, versions: 0, ageSum: 0, maxUsed: 0 };
}

export function noteUsedPlaces(state: PlaceState, used: number): PlaceState {
  return used > state.maxUsed ? { ...state, maxUsed: used } : state;
}

/** A version was made of updates of this mean age. */
export function noteVersionAge(options: PlaceOptions, state: PlaceState, meanAge: number): PlaceState {
  const seen = { ...state, versions: state.versions + 1, ageSum: state.ageSum + meanAge };
  const { targetAge } = options;
  if (options.places !== 'auto' || seen.versions < 2 * (1 + targetAge)) return seen;
  const factor = (1 + targetAge) / (1 + seen.ageSum / seen.versions);
  const isNear = factor >= DEAD_BAND[0] && factor <= DEAD_BAND[1];
  const moved = isNear ? state.places : state.places * clamp(factor, CHANGE[0], CHANGE[1]);
  const most = Math.max(wantedPlaces(options), CHANGE[1] * state.maxUsed);
  const places = clamp(moved, options.bufferSize + MIN_SPARE, most);
  return { places, versions: 0, ageSum: 0, maxUsed: 0 };
}

function wantedPlaces({ bufferSize, targetAge }: PlaceOptions): number {
  return Math.max(bufferSize * (1 + targetAge), bufferSize + MIN_SPARE);
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
