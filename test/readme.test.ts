import { expect, it } from 'vitest';
import { runSnippet } from './support/readme-snippet.ts';

it('the twenty lines of the README run as they are written', async () => {
  const stdout = await runSnippet('README.md');
  const [, ...numbers] =
    /\[([-\d.e]+), ([-\d.e]+), ([-\d.e]+)\]/.exec(stdout.replace(/\s+/g, ' ').replace('[ ', '[').replace(' ]', ']')) ??
    [];
  expect(numbers.map(Number).map((value, i) => Math.abs(value - Math.sin(i)) < 1e-3)).toEqual([true, true, true]);
});

it('the example in the README of abe runs as it is written', async () => {
  expect(await runSnippet('packages/abe/README.md')).toBe(
    "may go home on Friday\n{ kind: 'refused', reason: 'policy-not-satisfied' }\n",
  );
});
