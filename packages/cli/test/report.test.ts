import { expect, it } from 'vitest';
import { comparisonOf, jsonOf, summaryOf } from '../src/demo/report.ts';
import type { DemoResult } from '../src/demo/run-demo.ts';

const COST = { ms: 4, sent: 100, received: 20 };
/** Two contributions with two requests each. */
function resultOf(mode: DemoResult['mode'], many: number): DemoResult {
  const versions = Array.from({ length: many + 1 }, (_, version) => ({
    ...{ version, at: 0, sums: [], spoilt: [], accuracy: 0.5, accepted: 10, dropped: 0 },
  }));
  const accepted = [0, 1].map((device) => ({
    ...{ kind: 'accepted' as const, device, round: 0, trainedOn: 0, ctx: '', costs: { key: COST, upload: COST } },
  }));
  const tally = { ready: 0, accepted, dropped: many, rejected: 0, retries: 0, requests: 4 };
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
