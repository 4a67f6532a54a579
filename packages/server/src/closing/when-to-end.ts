/** When a buffer that fills is closed with what it has, and when it is given up. */
import { type Ctx, type FreezeReason, isHopeless, type SecureBuffer } from '@basa/protocol';

export interface EndingRules {
  /** A buffer with enough updates is closed if none came for this long. */
  readonly stallMs: number | undefined;
  /** How long ago the last upload of a buffer came, as far as this process saw it. */
  idleMs(ctx: Ctx): number;
  /** How long nobody has been under way to a seat in the buffer; without end if nobody will come. */
  quietMs(buffer: SecureBuffer): number;
  /** How many devices may still come to the buffer; undefined if any number may. */
  coming(buffer: SecureBuffer): number | undefined;
}

/** After this time without anybody under way to a seat, nobody will come. */
const NOBODY_COMES_MS = 1_000;
/** How long an open slot is waited for if nobody else comes. */
const UPLOAD_MS = 5_000;

/** A buffer with enough updates does not wait for more if waiting does not pay. */
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
  /** How long nobody has been under way to it; without end if nobody will come. */
  readonly quietMs: number;
  /** How long ago the last upload came. */
  readonly idleMs: number;
  readonly stallMs: number;
  /** Uploads of those who did come are still expected. */
  readonly isAwaited: boolean;
}

/** Whether waiting for more updates does not pay. */
export function isStalled({ quietMs, idleMs, stallMs, isAwaited }: Pace): boolean {
  const waitMs = isAwaited ? UPLOAD_MS : quietMs === Number.POSITIVE_INFINITY ? 0 : NOBODY_COMES_MS;
  const isQuiet = quietMs >= NOBODY_COMES_MS && idleMs >= waitMs;
  return isQuiet || idleMs >= stallMs;
}

/**
 * With one version a buffer, one that can never have enough updates is given up at once: its devices may give their update again, and nothing
 * else on this version until then.
 */
export function isToBeGivenUp(rules: EndingRules, buffer: SecureBuffer): boolean {
  return buffer.descriptor.versions === 'one' && isHopeless(buffer, rules.coming(buffer));
}
