/** Batches that an expected number of devices can fill. */
import { describe, expect, it } from 'vitest';
import { fittingFor, spoilerWarning } from '../src/flags/fitting.ts';

describe('a fleet', () => {
  it.each([
    [2, { bufferSize: 2, minimum: 2, places: 2 }],
    [9, { bufferSize: 4, minimum: 3, places: 8 }],
    [24, { bufferSize: 10, minimum: 7, places: 20 }],
    [1000, { bufferSize: 10, minimum: 7, places: 20 }],
  ])('of %i devices fills two batches of half of it, of at most K', (devices, fitting) => {
    expect(fittingFor(devices, 10)).toEqual(fitting);
  });

  it('is warned about a Kmin of more than half of it', () => {
    expect([spoilerWarning(8, undefined), spoilerWarning(4, 8), spoilerWarning(4, 9)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(spoilerWarning(5, 9)).toContain('every batch needs 5 of 9 devices');
  });
});
