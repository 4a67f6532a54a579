/** The rule by which a batch with enough updates stops waiting for more. */

/** After this time without a device under way, none will come. */
const NOBODY_COMES_MS = 1_000;
/** The time for which an upload that has begun is awaited if no other device comes. */
const UPLOAD_MS = 5_000;

export interface Pace {
  /** The time for which no device has been on its way to it. Infinite if no device will come. */
  readonly quietMs: number;
  /** The time since the last upload. */
  readonly idleMs: number;
  readonly stallMs: number;
  /** Uploads have begun, and are not whole or not inspected yet. */
  readonly isAwaited: boolean;
}

/** True if waiting for more updates does not pay. */
export function isStalled({ quietMs, idleMs, stallMs, isAwaited }: Pace): boolean {
  const waitMs = isAwaited ? UPLOAD_MS : quietMs === Number.POSITIVE_INFINITY ? 0 : NOBODY_COMES_MS;
  const isQuiet = quietMs >= NOBODY_COMES_MS && idleMs >= waitMs;
  return isQuiet || idleMs >= stallMs;
}
