/** When a device that found no place should ask again, to the millisecond. */
import { describe, expect, it } from 'vitest';
import { ComeBack } from '../../src/admission/come-back.ts';

const LATEST = 1; // never drawn; it makes the numbers whole
const first = { ahead: 0, waiting: 1_000 };

describe('a device that waits for a place', () => {
  it('waits for the places before it at the rate at which places became free, with less weight for older ones', () => {
    const comeBack = new ComeBack();
    comeBack.freed(3, 1_000);
    // 3/e places in 30 s (1 - 1/e): one in 10 s (e - 1).
    expect(comeBack.afterMs(first, 31_000, LATEST)).toBe(17_183);
    expect(comeBack.afterMs({ ahead: 1, waiting: 1_000 }, 31_000, LATEST)).toBe(20_000); // no longer than all take to ask
    expect(comeBack.afterMs({ ahead: 1, waiting: 5_000 }, 31_000, LATEST)).toBe(34_366);
  });

  it('counts from the time when the first place became free', () => {
    const comeBack = new ComeBack();
    comeBack.freed(0, 0);
    comeBack.freed(3, 1_000);
    expect(comeBack.afterMs(first, 31_000, LATEST)).toBe(17_183);
  });

  it('adds the places of two moments', () => {
    const comeBack = new ComeBack();
    comeBack.freed(3, 1_000);
    comeBack.freed(3, 1_000);
    expect(comeBack.afterMs(first, 31_000, LATEST)).toBe(8_591);
  });

  it('comes soon if no place ever became free, even if many wait', () => {
    expect(new ComeBack().afterMs({ ahead: 999, waiting: 1_000 }, 0, LATEST)).toBe(1_000);
  });

  it('comes soon when the first place becomes free', () => {
    const comeBack = new ComeBack();
    comeBack.freed(3, 1_000);
    expect(comeBack.afterMs({ ahead: 0, waiting: 1 }, 1_000, LATEST)).toBe(250);
  });

  it('is sent away for no longer than a minute, and comes early rather than late', () => {
    const comeBack = new ComeBack();
    comeBack.freed(1, 0);
    const last = { ahead: 4_000, waiting: 4_000 };
    expect([LATEST, 0.5, 0].map((jitter) => comeBack.afterMs(last, 60_000, jitter))).toEqual([60_000, 45_000, 30_000]);
  });
});
