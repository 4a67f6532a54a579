import { expect, it } from 'vitest';
import { errorBar, statusText, windowLine } from '../src/demo/statistics-demo.ts';
import { comparisonOf, type DemoResult, jsonOf, summaryOf } from '../src/demo/training-demo.ts';

const COST = { ms: 4, sent: 100, received: 20 };
/** Two contributions with two requests each. */
function resultOf(mode: DemoResult['mode'], many: number): DemoResult {
  const versions = Array.from({ length: many + 1 }, (_, version) => ({
    ...{ version, at: 0, sums: [], spoilt: [], accuracy: 0.5, accepted: 10, dropped: 0 },
  }));
  const accepted = [0, 1].map((device) => ({
    ...{ kind: 'accepted' as const, device, round: 0, trainedOn: 0, ctx: '', costs: { key: COST, upload: COST } },
  }));
  const tally = { accepted, dropped: many, requests: 4 };
  return { mode, versions, tally, seconds: 2, accuracy: 0.5, plainAccuracy: 0.5, ending: 'reached' };
}

it.each([
  [1, 'after 1 buffer and 2 s', '1 contribution dropped out'],
  [2, 'after 2 buffers and 2 s', '2 contributions dropped out'],
])('the demo counts %i as people do', (many, buffers, dropped) => {
  const result = resultOf('one-shot', many);
  const missed = summaryOf({ ...result, ending: 'buffers' }, { target: 0.8, further: 5 });
  const reached = summaryOf(result, { target: 0.5, further: 0 });
  expect(missed).toContain(buffers);
  expect(reached).toContain(buffers);
  expect(missed).toContain(dropped);
});

it('the table has a column for each protocol, and the unsafe one is named as such', () => {
  const both = comparisonOf([resultOf('paper', 1), resultOf('one-shot', 2)]);
  expect(both).toMatch(/^ +paper \(unsafe\) +one-shot$/m);
  expect(both).toMatch(/^milliseconds of a contribution +8 +8$/m);
  expect(both).toMatch(/^requests of a contribution +2 +2$/m);
  expect(both).toContain('UNSAFE and ran only for comparison');
  expect(comparisonOf([resultOf('one-shot', 2)])).not.toContain('UNSAFE');
});

it('the line of --json has an object for each protocol that ran', () => {
  const line = jsonOf([resultOf('paper', 1), resultOf('one-shot', 2)]);
  expect(line).toMatchObject({ paper: { buffers: 1, dropped: 1 }, oneShot: { buffers: 2, msPerContribution: 8 } });
  expect(Object.keys(jsonOf([resultOf('one-shot', 2)]))).toEqual(['oneShot']);
});

it.each([
  [5, 2, '███▒▒▒▒···'],
  [-4, 2, '··········'],
  [0, 3, '▒▒▒·······'],
  [9, 3, '██████▒▒▒▒'],
])('a bar of %i with an error of %i ends in its error bar, and stays on the scale', (value, error, bar) => {
  expect(errorBar(value, error, 10, 10)).toBe(bar);
});

it('tells why a window has no result, and what is awaited', () => {
  const window = { window: 7, from: 0, to: 6000, isOver: true, devices: 0, lost: 3, fields: [], truths: {} };
  expect(windowLine({ ...window, why: 'no batch of at least 24 reports was opened' }, 1)).toBe(
    'window 1: 0 devices, 3 reports left out; no result: no batch of at least 24 reports was opened. The demo waits for the next window.',
  );
  expect(statusText(1, 31, 1500, 48)).toBe('window 2 of 3: 31 of 48 devices have reported, 2 s left');
});
