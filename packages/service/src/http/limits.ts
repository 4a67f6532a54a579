/** Limits: the rate of a sender, and the load of the process. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { FastifyContextConfig } from 'fastify';
import { fail } from './problems.ts';

// Rate limits: a bucket of tokens for each key, refilled with time; the number of keys is bounded.

export interface RateLimit {
  /** The size of a burst of requests after a quiet time. */
  readonly burst: number;
  /** Requests a second in the long run. */
  readonly perSecond: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

const MAX_KEYS = 100_000;

export class TokenBuckets {
  readonly #limit: RateLimit;
  readonly #maxKeys: number;
  /** In the order of their last use. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: RateLimit, maxKeys: number = MAX_KEYS) {
    this.#limit = limit;
    this.#maxKeys = maxKeys;
  }

  /** Takes a token. If no token is left, returns the time until the next one. */
  take(key: string, now: number): { readonly retryAfterMs: number } | undefined {
    const { burst, perSecond } = this.#limit;
    const before = this.#buckets.get(key) ?? { tokens: burst, at: now };
    const refilled = before.tokens + (Math.max(0, now - before.at) / 1000) * perSecond;
    const bucket = { tokens: Math.min(burst, refilled), at: Math.max(now, before.at) };
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#maxKeys) this.#forgetOldest();
    if (bucket.tokens < 1) return { retryAfterMs: Math.ceil(((1 - bucket.tokens) / perSecond) * 1000) };
    bucket.tokens -= 1;
    return undefined;
  }

  #forgetOldest(): void {
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}

// Rejects requests immediately when the process is overloaded, because an answer with a time to retry is cheaper than a growing queue. The
// measure is the delay of the event loop, which works for cheap and for expensive requests.

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A device begins something with this request: such requests are the first to be rejected. */
    readonly begins?: true;
    /** It brings earlier work of a device to its end, which must not be lost: such requests are never rejected. */
    readonly completes?: true;
  }
}

/** When the event loop lags this far behind, requests that begin something are rejected. */
const LATE_MS = 500;
/** When the event loop lags this far behind, only probes and requests that complete earlier work are served. */
const VERY_LATE_MS = 3_000;
const LOOK_MS = 200;
const RESOLUTION_MS = 10;
const COME_BACK_MS = 2_000;

export interface Overload {
  /** Ends the request if it cannot be answered in time. */
  check(config: FastifyContextConfig): void;
  stop(): void;
}

export interface OverloadOptions {
  /** Returns the delay of the process in milliseconds; measured by default. */
  readonly lateMs?: (() => number) | undefined;
}

export function watchOverload({ lateMs }: OverloadOptions): Overload {
  const measured = lateMs === undefined ? measuredLateness() : { lateMs, stop: () => {} };
  return {
    check({ begins, completes }) {
      if (completes === true) return;
      if (measured.lateMs() >= (begins === true ? LATE_MS : VERY_LATE_MS))
        fail('overloaded', { retryAfterMs: Math.round(COME_BACK_MS * (0.5 + Math.random())) });
    },
    stop: measured.stop,
  };
}

/** Returns the longest delay of the last measurements, halved after each better measurement. */
function measuredLateness(): { lateMs(): number; stop(): void } {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let late = 0;
  const timer = setInterval(() => {
    const now = Math.max(0, delays.mean / 1e6 - RESOLUTION_MS);
    late = Math.max(Number.isFinite(now) ? now : 0, late / 2);
    delays.reset();
  }, LOOK_MS);
  timer.unref();
  return {
    lateMs: () => late,
    stop() {
      clearInterval(timer);
      delays.disable();
    },
  };
}
