/**
 * Says no at once when more is asked than can be done in time: an answer with a time to come back costs little, a queue grows.
 * How late the process is with what it has to do is the measure: it holds whatever the requests cost.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fail } from './problem.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** With this request a device begins something: it is the first that is put off. */
    readonly begins?: true;
  }
}

/** So late, nothing new is begun. */
const LATE_MS = 500;
/** So late, everything waits but what was begun before and probes. */
const VERY_LATE_MS = 3_000;
const LOOK_MS = 200;
const RESOLUTION_MS = 10;
const COME_BACK_MS = 2_000;

export interface Overload {
  /** Ends the request where it cannot be answered in time. */
  check(config: { readonly begins?: true }, method: string): void;
  stop(): void;
}

export interface OverloadOptions {
  /** How late the process is, in milliseconds; measured where it is not given. */
  readonly lateMs?: (() => number) | undefined;
}

export function watchOverload({ lateMs }: OverloadOptions): Overload {
  const measured = lateMs === undefined ? measuredLateness() : { lateMs, stop: () => {} };
  return {
    check({ begins }, method) {
      const late = measured.lateMs();
      // PUT carries bodies of slots that were given before: what a device has trained for is not lost.
      const isPutOff = begins === true ? late >= LATE_MS : late >= VERY_LATE_MS && method !== 'PUT';
      if (isPutOff) fail('overloaded', { retryAfterMs: Math.round(COME_BACK_MS * (0.5 + Math.random())) });
    },
    stop: measured.stop,
  };
}

/** The longest delay within the last looks, falling by half with each that was better. */
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
