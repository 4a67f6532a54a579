import { expect, it } from 'vitest';
import { summaryOf } from '../src/demo/report.ts';

it.each([
  [1, 'after 1 buffer and 2 s', '1 contribution dropped out'],
  [2, 'after 2 buffers and 2 s', '2 contributions dropped out'],
])('the demo counts %i as people do', (many, buffers, dropped) => {
  const versions = Array.from({ length: many + 1 }, (_, version) => ({
    version,
    at: 0,
    sums: [],
    spoilt: [],
    accuracy: 0.5,
    accepted: 10,
    dropped: 0,
  }));
  const tally = { ready: 0, accepted: [], dropped: many, rejected: 0, retries: 0 };
  const result = { versions, tally, seconds: 2, accuracy: 0.5, plainAccuracy: 0.5 };
  const missed = summaryOf({ ...result, ending: 'buffers' }, { target: 0.8, further: 5 });
  const reached = summaryOf({ ...result, ending: 'reached' }, { target: 0.5, further: 0 });
  expect(missed).toContain(buffers);
  expect(reached).toContain(buffers);
  expect(missed).toContain(dropped);
});
