/** An address that may be asked, the time that one attempt may take, and the attempts after it: exponential back-off with full jitter. */
import { Network } from '@basa/protocol/http';
import { ProblemError, RefusedError, UnreachableError } from '../errors.ts';
import { type Outside, uniform } from '../outside.ts';

export function refusePlainHttp(
  service: string,
  url: string,
  { unsafeAllowPlainHttp = false }: { readonly unsafeAllowPlainHttp?: boolean | undefined },
): void {
  const { hostname, protocol } = new URL(url);
  if (protocol === 'http:' && !Network.isLoopback(hostname) && !unsafeAllowPlainHttp)
    throw new RefusedError('plain-http', `${service} ${url}`);
}

export interface RetryOptions {
  /** The maximum number of attempts; progress resets the count. */
  readonly attempts: number;
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
  /** Silence after which an attempt counts as failed. */
  readonly timeoutMs: number;
}

export const DEFAULT_RETRY: RetryOptions = {
  attempts: 6,
  firstWaitMs: 200,
  longestWaitMs: 15_000,
  timeoutMs: 30_000,
};

export interface RetryNotice {
  readonly service: string;
  readonly attempt: number;
  readonly waitMs: number;
  readonly why: string;
}

/** Marks a failure of the network: no answer, or an incomplete answer. */
export class NetworkFailure extends Error {}

interface Retrying {
  readonly service: string;
  readonly options: RetryOptions;
  readonly signal: AbortSignal;
  onRetry(notice: RetryNotice): void;
}

/** Runs the operation until it succeeds, fails for good, or has failed too often. The operation may report progress. */
export async function retrying<T>(
  { sleep, randomBytes }: Pick<Outside, 'sleep' | 'randomBytes'>,
  { service, options, signal, onRetry }: Retrying,
  operation: (progressed: () => void) => Promise<T>,
): Promise<T> {
  let failures = 0;
  for (;;) {
    signal.throwIfAborted();
    try {
      return await operation(() => {
        failures = 0;
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!isRetryable(error)) throw error;
      failures++;
      const asked = error instanceof ProblemError ? (error.retryAfterMs ?? 0) : 0;
      if (failures >= options.attempts || asked > options.longestWaitMs) {
        throw error instanceof ProblemError ? error : new UnreachableError(service, error.cause ?? error);
      }
      const ceiling = Math.min(options.longestWaitMs, options.firstWaitMs * 2 ** (failures - 1));
      const waitMs = asked + uniform(randomBytes) * ceiling;
      onRetry({ service, attempt: failures, waitMs, why: error instanceof ProblemError ? error.code : error.message });
      await sleep(waitMs, signal);
    }
  }
}

/** Every request is idempotent by the protocol, so a request that failed on the network or temporarily is simply sent again. */
function isRetryable(error: unknown): error is Error {
  return error instanceof NetworkFailure || (error instanceof ProblemError && error.isPassing);
}

interface Watchdog {
  /** Aborted by the caller's signal, too. */
  readonly signal: AbortSignal;
  /** The reason why it ended the attempt. */
  readonly why: string | undefined;
  /** Reports that bytes have arrived. */
  feed(bytes: number): void;
  stop(): void;
}

interface WatchedAttempt {
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
  const silenceMs = Network.timeLeftMs({ elapsedMs: 0, silentMs: 0, sentBytes, receivedBytes: 0 }, { timeoutMs });
  let [lastAt, receivedBytes] = [start, 0];
  let why: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watch = (): void => {
    const now = stopwatch();
    const [elapsedMs, silentMs] = [now - start, now - lastAt];
    const leftMs = Network.timeLeftMs({ elapsedMs, silentMs, sentBytes, receivedBytes }, { timeoutMs });
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
