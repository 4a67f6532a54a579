/** Batches that an expected number of devices can fill, and names that people type. */

import { DEFAULT_FLOOR } from '@basa/client/node';
import { describe, expect, it } from 'vitest';
import { batchesFor } from '../src/demo/dev.ts';
import { wholeName } from '../src/flags/services.ts';
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

const LISTED = '`basa task ls`';
const tasks = [
  { hex: `abcd1${'0'.repeat(59)}`, name: 'first' },
  { hex: `abcd2${'0'.repeat(59)}`, name: 'second' },
  { hex: `ef${'0'.repeat(62)}`, name: 'second' },
  { hex: `beef${'1'.repeat(60)}`, name: 'abcd1' },
];
const find = (text: string) => wholeName(text, 'task', LISTED, async () => tasks);

describe('a name of 64 digits', () => {
  it('is used unchanged, without a request', async () => {
    const whole = '9'.repeat(64);
    const nobody = (): never => {
      throw new Error('asked');
    };
    expect(await wholeName(whole, 'task', LISTED, nobody)).toBe(whole);
  });

  it('may be given as a label, or by unique first digits', async () => {
    expect(await find('first')).toBe(tasks[0]?.hex);
    expect(await find('abcd2')).toBe(tasks[1]?.hex);
    expect(await find('abcd1')).toBe(tasks[3]?.hex); // a name goes before digits
  });

  it.each([
    ['abcd', '"abcd" matches 2 tasks: abcd100000000000 (first), abcd200000000000 (second); give more digits'],
    ['second', '"second" matches 2 tasks'],
    ['abc', 'there is no task "abc"; give its name or at least its first 4 digits; `basa task ls` lists them'],
    ['', 'there is no task ""'],
    ['ABCD1', 'there is no task "ABCD1"'],
  ])('that %j does not settle is asked for again', async (text, sentence) => {
    await expect(find(text)).rejects.toThrow(sentence);
  });
});
