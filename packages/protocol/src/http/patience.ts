/** How long one attempt at a request may take: silence ends it, and so does an answer that comes byte by byte. */

/** 64 kbit/s: a body may take its time, and nobody can hold a request open with less. */
const SLOWEST_BYTES_PER_MS = 8;

export interface AttemptSoFar {
  readonly elapsedMs: number;
  /** Since anything was heard. */
  readonly silentMs: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/** What is left of its time; none where it is over. Every byte that moved gives it more, whichever way it went. */
export function timeLeftMs(
  { elapsedMs, silentMs, sentBytes, receivedBytes }: AttemptSoFar,
  { timeoutMs }: { readonly timeoutMs: number },
): number {
  const toSendMs = timeoutMs + sentBytes / SLOWEST_BYTES_PER_MS; // nothing comes back while a body goes up
  return Math.min(toSendMs - silentMs, toSendMs + receivedBytes / SLOWEST_BYTES_PER_MS - elapsedMs);
}
