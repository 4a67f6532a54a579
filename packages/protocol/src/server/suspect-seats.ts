/**
 * Where a device sits down by how much it is suspected. One suspect in a buffer is a test that tells something; several would
 * shield each other, and an honest one among cheats alone would have no crowd.
 */
import { STRONG_SUSPECT, SUSPECT } from './suspicion.ts';

/** A buffer that others can enter, as far as this counts. */
export interface EnteredBuffer {
  readonly ctx: Uint8Array;
  /** Kmin. */
  readonly minimum: number;
  /** Devices with a seat or a slot in it; how many of them are suspects, and how many of these strong ones. */
  readonly taken: number;
  readonly suspects: number;
  readonly strong: number;
  /** It waited long for devices that nobody suspects. */
  readonly isLate: boolean;
}

/** The devices that took part lately and may again; more of them than the minimum need not be counted. */
export interface FleetTrust {
  /** Those that are no suspects. */
  readonly trusted: number;
  /** Those that are no strong suspects, the trusted ones included. */
  readonly mild: number;
}

/** A strong suspect is tested in one buffer of so many. */
const STRONG_EVERY = 5;

/**
 * Where trusted devices are too few to make up a sum, suspects fill it up to the minimum and no further, so that whoever is
 * trusted still finds a seat; strong ones only where the mild ones are too few as well.
 */
export function maySit(suspicion: number, buffer: EnteredBuffer, { trusted, mild }: FleetTrust): boolean {
  if (suspicion < SUSPECT) return true;
  const { ctx, minimum, taken, suspects, strong, isLate } = buffer;
  const missing = minimum - (isLate ? Math.min(trusted, taken - suspects) : trusted);
  if (suspects >= Math.max(1, missing)) return false;
  if (suspicion < STRONG_SUSPECT) return true;
  const missingStrong = minimum - (isLate ? Math.min(mild, taken - strong) : mild);
  if (missingStrong > 0) return strong < missingStrong;
  // ctx is a hash that the authority drew: every node reads the same from it, and no device chose it.
  return (ctx[0] as number) % STRONG_EVERY === 0;
}
