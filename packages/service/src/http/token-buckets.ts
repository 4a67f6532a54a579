/** Rate limits: a bucket of tokens for each key, refilled with time; the number of keys is bounded. */

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
