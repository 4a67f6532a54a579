/** The time that one attempt at a request may take: silence ends it, and so does an answer that comes byte by byte. */

/** 64 kbit/s: a body may take its time, but a slower sender cannot hold a request open. */
const SLOWEST_BYTES_PER_MS = 8;

export interface AttemptSoFar {
  readonly elapsedMs: number;
  /** The time since the last byte. */
  readonly silentMs: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/** Returns the remaining time; zero if it is over. Every byte in either direction adds time. */
export function timeLeftMs(
  { elapsedMs, silentMs, sentBytes, receivedBytes }: AttemptSoFar,
  { timeoutMs }: { readonly timeoutMs: number },
): number {
  const toSendMs = timeoutMs + sentBytes / SLOWEST_BYTES_PER_MS; // nothing comes back while a body is sent
  return Math.min(toSendMs - silentMs, toSendMs + receivedBytes / SLOWEST_BYTES_PER_MS - elapsedMs);
}
