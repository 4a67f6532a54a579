import { councilClock, MAX_CLOCK_ERROR_MS } from '@basa/protocol';
import { expect, it } from 'vitest';

const HOUR_MS = 3_600_000;
const FAR_MS = 10 * 365 * 24 * HOUR_MS;
const of = (...offsets: number[]) => councilClock({ threshold: 3 }, offsets);

it.each([
  ['an authority that lies far ahead', [FAR_MS, 5, 6, 7], { kind: 'agreed', offsetMs: 6 }],
  ['an authority that lies far behind', [-FAR_MS, 5, 6, 7], { kind: 'agreed', offsetMs: 6 }],
  ['an authority that lies within the bound', [23 * HOUR_MS, 5, 6, 7], { kind: 'agreed', offsetMs: 6 }],
  ['an authority that lies while another is down', [-23 * HOUR_MS, 5, 6], { kind: 'agreed', offsetMs: 5 }],
  ['too few', [HOUR_MS, HOUR_MS], { kind: 'own', offsetMs: 0 }],
  [
    'a device that is two hours behind',
    [2 * HOUR_MS, 2 * HOUR_MS, 0, 2 * HOUR_MS],
    { kind: 'agreed', offsetMs: 2 * HOUR_MS },
  ],
  ['a device that is years behind', [FAR_MS, FAR_MS, FAR_MS, 0], { kind: 'wrong', offsetMs: FAR_MS }],
])('%s', (_, offsets, expected) => {
  expect(of(...offsets)).toEqual(expected);
});

it('the bound is a day either way, and a lone authority is held to it as well', () => {
  const alone = (offset: number) => councilClock({ threshold: 1 }, [offset]).kind;
  expect([MAX_CLOCK_ERROR_MS, -MAX_CLOCK_ERROR_MS].map(alone)).toEqual(['agreed', 'agreed']);
  expect([MAX_CLOCK_ERROR_MS + 1, -MAX_CLOCK_ERROR_MS - 1].map(alone)).toEqual(['wrong', 'wrong']);
});
