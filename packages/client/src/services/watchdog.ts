/** Ends an attempt that is silent for too long, or that is endless and too slow. */
import { timeLeftMs } from '@basa/protocol/http';

export interface Watchdog {
  /** Aborted by the caller's signal, too. */
  readonly signal: AbortSignal;
  /** The reason why it ended the attempt. */
  readonly why: string | undefined;
  /** Reports that bytes have arrived. */
  feed(bytes: number): void;
  stop(): void;
}

export interface WatchedAttempt {
  readonly timeoutMs: number;
  readonly sentBytes: number;
}

export function watchdog(
  signal: AbortSignal,
  { timeoutMs, sentBytes }: WatchedAttempt,
  stopwatch: () => number,
): Watchdog {
  const attempt = new AbortController();
  const start = stopwatch();
  const silenceMs = timeLeftMs({ elapsedMs: 0, silentMs: 0, sentBytes, receivedBytes: 0 }, { timeoutMs });
  let [lastAt, receivedBytes] = [start, 0];
  let why: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watch = (): void => {
    const now = stopwatch();
    const [elapsedMs, silentMs] = [now - start, now - lastAt];
    const leftMs = timeLeftMs({ elapsedMs, silentMs, sentBytes, receivedBytes }, { timeoutMs });
    clearTimeout(timer);
    if (leftMs > 0) timer = setTimeout(watch, leftMs);
    else {
      const isSilent = silentMs >= silenceMs;
      why = isSilent
        ? `silent for ${Math.round(silenceMs)} ms`
        : `no more than ${receivedBytes} bytes in ${Math.round(elapsedMs)} ms`;
      attempt.abort(new Error(why));
    }
  };
  const follow = (): void => attempt.abort(signal.reason);
  signal.addEventListener('abort', follow, { once: true });
  if (signal.aborted) follow();
  watch();
  return {
    signal: attempt.signal,
    get why() {
      return why;
    },
    feed(bytes) {
      lastAt = stopwatch();
      receivedBytes += bytes;
      watch();
    },
    stop() {
      clearTimeout(timer);
      signal.removeEventListener('abort', follow); // a signal may outlive many requests
    },
  };
}
