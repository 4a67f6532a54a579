/**
 * Learns three values from arrivals and durations: the lifetime of a seat, the number of seats to keep free, and the time after which a
 * device that was sent away should come back.
 */
import type { UserId } from '@basa/protocol';
import { Samples, Span } from './pace.ts';

export interface TuningOptions {
  /** The longest lifetime of a seat, which it has until enough samples were seen. */
  readonly seatMs: number;
  /** K of the task: no more than a buffer of it is drawn ahead. */
  readonly bufferSize: number;
}

export interface Tuned {
  readonly arrivalsPerSecond: number;
  readonly seatMs: number;
  readonly seatsAhead: number;
  readonly retryAfterMs: number;
}

const SLOWEST = 0.95;
const MIN_SAMPLES = 20;
/** A seat lives this many times as long as nearly all devices need. */
const SEAT_MARGIN = 4;
const MIN_SEAT_MS = 2_000;
/** Devices that arrive during this many draws find a seat. */
const DRAWS_AHEAD = 2;
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** The time over which arrivals are averaged. */
const MEMORY_MS = 30_000;

export class Tuning {
  readonly #options: TuningOptions;
  readonly #toDeposit = new Span(MIN_SAMPLES);
  readonly #draws = new Samples(MIN_SAMPLES);
  #rate = 0;
  #lastArrival: number | undefined;
  /** The number of refusals in a row because the authority did not answer. */
  #failures = 0;

  constructor(options: TuningOptions) {
    this.#options = options;
  }

  arrived(now: number): void {
    const gap = this.#lastArrival === undefined ? 0 : Math.max(0, now - this.#lastArrival);
    this.#rate = this.#decayed(gap) + 1 / MEMORY_MS;
    this.#lastArrival = now;
  }

  seated(user: UserId, now: number): void {
    this.#failures = 0;
    this.#toDeposit.begin(user, now);
  }

  deposited(user: UserId, now: number): void {
    this.#toDeposit.end(user, now);
  }

  drew(tookMs: number): void {
    this.#failures = 0;
    this.#draws.add(tookMs);
  }

  couldNotDraw(): void {
    this.#failures++;
  }

  at(now: number): Tuned {
    const { seatMs, bufferSize } = this.#options;
    const gap = this.#lastArrival === undefined ? 0 : now - this.#lastArrival;
    const perMs = this.#decayed(gap);
    const slowest = this.#toDeposit.quantile(SLOWEST);
    const drawMs = this.#draws.quantile(SLOWEST) ?? 0;
    return {
      arrivalsPerSecond: perMs * 1000,
      seatMs: slowest === undefined ? seatMs : Math.min(seatMs, Math.max(MIN_SEAT_MS, SEAT_MARGIN * slowest)),
      seatsAhead: Math.min(bufferSize, Math.ceil(perMs * drawMs * DRAWS_AHEAD)),
      retryAfterMs: Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** Math.max(0, this.#failures - 1)),
    };
  }

  /** Arrivals in a millisecond, after `gap` milliseconds without one. */
  #decayed(gap: number): number {
    return this.#rate * Math.exp(-gap / MEMORY_MS);
  }
}
