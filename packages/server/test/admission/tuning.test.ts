import type { UserId } from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import { Tuning } from '../../src/admission/tuning.ts';

const options = { seatMs: 30_000, bufferSize: 10 };

/** This many devices one after the other, each of which needs `depositMs` after its seat. */
function arrivals(
  tuning: Tuning,
  { count, everyMs, depositMs }: Record<'count' | 'everyMs' | 'depositMs', number>,
): number {
  for (let n = 0; n < count; n++) {
    const now = n * everyMs;
    tuning.arrived(now);
    const user = Uint8Array.of(n >> 8, n & 255) as UserId;
    tuning.seated(user, now);
    tuning.deposited(user, now + depositMs);
  }
  return (count - 1) * everyMs;
}

describe('tuning', () => {
  it('keeps the configured values until it has seen enough', () => {
    const tuning = new Tuning(options);
    expect(tuning.at(500)).toMatchObject({ arrivalsPerSecond: 0, seatsAhead: 0 });
    arrivals(tuning, { count: 5, everyMs: 100, depositMs: 50 });
    expect(tuning.at(500)).toMatchObject({ seatMs: 30_000, seatsAhead: 0, retryAfterMs: 1_000 });
  });

  it('lets seats live as long as slow devices need, and never longer than configured', () => {
    const quick = new Tuning(options);
    arrivals(quick, { count: 100, everyMs: 100, depositMs: 1_500 });
    expect(quick.at(10_000).seatMs).toBe(6_000);
    const slow = new Tuning(options);
    arrivals(slow, { count: 100, everyMs: 100, depositMs: 20_000 });
    expect(slow.at(10_000).seatMs).toBe(30_000);
    const instant = new Tuning(options);
    arrivals(instant, { count: 100, everyMs: 100, depositMs: 1 });
    expect(instant.at(10_000).seatMs).toBe(2_000);
  });

  it('counts arrivals, and forgets them', () => {
    const tuning = new Tuning(options);
    const now = arrivals(tuning, { count: 8_000, everyMs: 50, depositMs: 1 });
    expect(tuning.at(now).arrivalsPerSecond).toBeCloseTo(20, 0);
    expect(tuning.at(now + 300_000).arrivalsPerSecond).toBeLessThan(0.01);
  });

  it('wants as many seats free as come while buffers are drawn, and no more than a buffer', () => {
    const tuning = new Tuning(options);
    const now = arrivals(tuning, { count: 8_000, everyMs: 50, depositMs: 1 });
    for (let n = 0; n < 30; n++) tuning.drew(100);
    expect(tuning.at(now).seatsAhead).toBe(5); // 20 a second for 0.1 s, twice, rounded up
    for (let n = 0; n < 256; n++) tuning.drew(5_000);
    expect(tuning.at(now).seatsAhead).toBe(10);
  });

  it('sends devices away for longer while buffers cannot be drawn', () => {
    const tuning = new Tuning(options);
    for (let n = 0; n < 4; n++) tuning.couldNotDraw();
    expect(tuning.at(0).retryAfterMs).toBe(8_000);
    for (let n = 0; n < 40; n++) tuning.couldNotDraw();
    expect(tuning.at(0).retryAfterMs).toBe(60_000);
    tuning.drew(10);
    expect(tuning.at(0).retryAfterMs).toBe(1_000);
  });
});
