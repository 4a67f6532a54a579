/** Retries: exponential back-off with full jitter, never earlier than the service asks for. */
import { ProblemError, UnreachableError } from '../errors.ts';
import { type Outside, uniform } from '../outside.ts';

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

export interface Retrying {
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
