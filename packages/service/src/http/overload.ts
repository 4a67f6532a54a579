/**
 * Rejects requests immediately when the process is overloaded, because an answer with a time to retry is cheaper than a growing queue. The
 * measure is the delay of the event loop, which works for cheap and for expensive requests.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { FastifyContextConfig } from 'fastify';
import { fail } from './problem.ts';

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
