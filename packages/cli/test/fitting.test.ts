/** Batches that an expected number of devices can fill. */

import { DEFAULT_FLOOR } from '@basa/client/node';
import { describe, expect, it } from 'vitest';
import { batchesFor } from '../src/demo/dev.ts';
import { FEWEST, fittingFor, floorWarning, spoilerWarning } from '../src/flags/task.ts';

describe('a fleet', () => {
  it.each([
    [3, { bufferSize: 3, minimum: 3, places: 3 }],
    [6, { bufferSize: 3, minimum: 3, places: 6 }],
    [9, { bufferSize: 4, minimum: 3, places: 8 }],
    [24, { bufferSize: 10, minimum: 7, places: 20 }],
    [1000, { bufferSize: 10, minimum: 7, places: 20 }],
  ])('of %i devices fills two batches of half of it, of at most K', (devices, fitting) => {
    expect(fittingFor(devices, 10)).toEqual(fitting);
  });

  it.each([
    [6, 10, { bufferSize: 10, minimum: 5 }],
    [9, 32, { bufferSize: 32, minimum: 7 }],
    [40, 10, { bufferSize: 10, minimum: 7 }],
    [0, 10, { bufferSize: 10, minimum: 7 }],
    [2, 3, { bufferSize: 3, minimum: 3 }],
  ])(
    'of %i devices in `basa dev` with K = %i has a Kmin that it reaches, or asks for more devices',
    (devices, K, batches) => {
      expect(batchesFor(devices, K)).toEqual(batches);
    },
  );

  it('is warned about a Kmin of more than half of it', () => {
    expect([spoilerWarning(8, undefined), spoilerWarning(4, 8), spoilerWarning(4, 9)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(spoilerWarning(5, 9)).toContain('every batch needs 5 of 9 devices');
    expect(spoilerWarning(5, 9)).toContain('choose a --minimum of at most 4');
    expect(spoilerWarning(3, 4)).toContain('with 6 devices, choose --minimum 3');
  });

  it('is warned about a Kmin that its devices do not take without being told', () => {
    expect(DEFAULT_FLOOR.minimum).toBe(FEWEST);
    expect([floorWarning(3), floorWarning(2)]).toEqual([undefined, expect.stringContaining('--minimum 2')]);
  });
});
