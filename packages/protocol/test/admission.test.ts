/** Who gets a place, and when a device that got none asks again. */
import { admit, defaultPlaces, retryAfterMs, WAITING_SUMS } from '@basa/protocol/internal/one-shot/admission.ts';
import { describe, expect, it } from 'vitest';

const asked = { hasGiven: false, waitingSums: 0, fresh: 0, least: 0, used: 0, places: 3 };

describe('a place', () => {
  it('is given while fewer than all are used', () => {
    expect([0, 2, 3, 4].map((used) => admit({ ...asked, used }))).toEqual(['place', 'place', 'full', 'full']);
  });

  it('is not given to a device that gave on the newest version, or while sums wait to be opened', () => {
    expect(admit({ ...asked, hasGiven: true })).toBe('given');
    expect(admit({ ...asked, waitingSums: WAITING_SUMS - 1 })).toBe('place');
    expect(admit({ ...asked, waitingSums: WAITING_SUMS })).toBe('backlog');
  });

  it('of a private task is given once enough devices could contribute to the version', () => {
    expect([2, 3].map((fresh) => admit({ ...asked, fresh, least: 3 }))).toEqual(['few', 'place']);
  });

  it('is there three times for each update of a step, by default', () => expect(defaultPlaces(10)).toBe(30));
});

it('devices that wait ask again after a second, and later if they are many, but within a minute', () => {
  expect([0, 0.5].map((jitter) => retryAfterMs(1, jitter))).toEqual([500, 750]);
  expect([50, 500, 1e6].map((waiting) => retryAfterMs(waiting, 1))).toEqual([1_000, 10_000, 60_000]);
});
