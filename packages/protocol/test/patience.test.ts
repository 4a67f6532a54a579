import { timeLeftMs } from '@basa/protocol/internal/http/network.ts';
import { expect, it } from 'vitest';

const TIMEOUT = { timeoutMs: 30_000 };
const left = (elapsedMs: number, silentMs: number, sentBytes: number, receivedBytes: number): number =>
  timeLeftMs({ elapsedMs, silentMs, sentBytes, receivedBytes }, TIMEOUT);

it('an attempt ends by silence, or when it has come to too little for its time', () => {
  expect(left(0, 0, 0, 0)).toBe(30_000);
  expect(left(29_000, 29_000, 0, 0)).toBe(1_000);
  expect(left(30_000, 0, 0, 15)).toBeLessThan(2_000);
  expect(left(30_002, 0, 0, 15)).toBeLessThanOrEqual(0);
});

it('a long body has its time, either way, on a link of 64 kbit/s', () => {
  const bytes = 100_000_000;
  expect(left(bytes / 8, 0, 0, bytes)).toBe(30_000);
  expect(left(bytes / 8, bytes / 8, bytes, 0)).toBe(30_000);
  expect(left(10_000, 31_000, 0, bytes)).toBeLessThan(0); // and is not awaited once it stops
});
