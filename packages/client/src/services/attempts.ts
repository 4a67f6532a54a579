/** An address that may be asked, the time that one attempt may take, and the attempts after it: exponential back-off with full jitter. */
import { concatBytes } from '@basa/masking';
import { Network } from '@basa/protocol/http';
import { AnswerError, CertificateError, ProblemError, RefusedError, UnreachableError } from '../errors.ts';
import { type HttpAnswer, type HttpRequest, type Outside, type Transport, uniform } from '../outside.ts';
import { problemOf } from './answers.ts';

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

function watchdog(signal: AbortSignal, { timeoutMs, sentBytes }: WatchedAttempt, stopwatch: () => number): Watchdog {
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

/** Bounds the bytes that are read of a refusal. */
const MAX_PROBLEM_BYTES = 65_536;

interface Exchange extends WatchedAttempt {
  /** The largest number of bytes in an answer. */
  readonly maxBytes: number;
  /** In messages: the service, and for people who make many requests also this one. */
  readonly service: string;
  readonly asked?: string;
  stopwatch(): number;
}

/** Makes one attempt; the body of a success goes to `sink` as it arrives. A redirection is a refusal: nobody follows it. */
export async function exchange(
  transport: Pick<Transport, 'send'>,
  request: HttpRequest,
  { maxBytes, service, asked, stopwatch, ...watched }: Exchange,
  sink: (chunk: Uint8Array, status: number) => void,
): Promise<HttpAnswer> {
  const { signal } = request;
  const watch = watchdog(signal, watched, stopwatch);
  const read = async (answer: HttpAnswer, most: number, tooLong: string, take: typeof sink): Promise<void> => {
    let length = 0;
    for await (const chunk of answer.chunks()) {
      watch.feed(chunk.length);
      length += chunk.length;
      if (length > most) throw new AnswerError(service, tooLong);
      take(chunk, answer.status);
    }
  };
  try {
    const answer = await transport.send({ ...request, signal: watch.signal });
    watch.feed(0);
    if (answer.status >= 200 && answer.status < 300) {
      await read(answer, maxBytes, `more than ${maxBytes} bytes`, sink);
      return answer;
    }
    const parts: Uint8Array[] = [];
    await read(answer, MAX_PROBLEM_BYTES, 'an endless refusal', (chunk) => parts.push(chunk.slice()));
    throw problemOf({ ...answer, body: concatBytes(...parts) }, asked);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProblemError || error instanceof AnswerError || error instanceof CertificateError) throw error;
    const why = watch.why ?? (error instanceof Error ? error.message : String(error));
    throw new NetworkFailure(why, { cause: watch.why === undefined ? error : undefined });
  } finally {
    watch.stop();
  }
}
