/** The rules by which a filling buffer is closed with the updates it has, or is given up. */
import { type Ctx, type FreezeReason, isHopeless, type SecureBuffer } from '@basa/protocol';

export interface EndingRules {
  /** A buffer with enough updates is closed if no update came for this long. */
  readonly stallMs: number | undefined;
  /** The time since the last upload of a buffer, as far as this process saw it. */
  idleMs(ctx: Ctx): number;
  /** The time for which no device has been on its way to a seat in the buffer. Infinite if no device will come. */
  quietMs(buffer: SecureBuffer): number;
  /** The number of devices that may still come to the buffer; undefined if there is no limit. */
  coming(buffer: SecureBuffer): number | undefined;
}

/** After this time without a device under way to a seat, none will come. */
const NOBODY_COMES_MS = 1_000;
/** The time for which an open slot is awaited if no other device comes. */
const UPLOAD_MS = 5_000;

/** A buffer with enough updates stops waiting when waiting does not pay. */
export function freezeReason(rules: EndingRules, buffer: SecureBuffer, now: number): FreezeReason | undefined {
  const { ctx, slots, descriptor } = buffer;
  const { stallMs = Number.POSITIVE_INFINITY } = rules;
  if (slots.length === descriptor.bufferSize && slots.every(({ status }) => status !== 'assigned')) return 'resolved';
  if (now >= descriptor.expiry) return 'expired';
  if (slots.filter(({ status }) => status === 'accepted').length < descriptor.minimum) return undefined;
  const isAwaited = slots.some(({ status }) => status === 'assigned');
  const pace = { quietMs: rules.quietMs(buffer), idleMs: rules.idleMs(ctx), stallMs, isAwaited };
  return isStalled(pace) ? 'stalled' : undefined;
}

export interface Pace {
  /** The time for which no device has been on its way to it. Infinite if no device will come. */
  readonly quietMs: number;
  /** The time since the last upload. */
  readonly idleMs: number;
  readonly stallMs: number;
  /** Uploads of devices that have a slot are still expected. */
  readonly isAwaited: boolean;
}

/** True if waiting for more updates does not pay. */
export function isStalled({ quietMs, idleMs, stallMs, isAwaited }: Pace): boolean {
  const waitMs = isAwaited ? UPLOAD_MS : quietMs === Number.POSITIVE_INFINITY ? 0 : NOBODY_COMES_MS;
  const isQuiet = quietMs >= NOBODY_COMES_MS && idleMs >= waitMs;
  return isQuiet || idleMs >= stallMs;
}

/**
 * With one version per buffer, a buffer that can never have enough updates is given up immediately. Its devices may then contribute their
 * update again. Until then they can contribute nothing on this version.
 */
export function isToBeGivenUp(rules: EndingRules, buffer: SecureBuffer): boolean {
  return buffer.descriptor.versions === 'one' && isHopeless(buffer, rules.coming(buffer));
}
