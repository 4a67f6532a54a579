import { runSnippet } from '@basa/testkit/pages/snippets.ts';
import { expect, it } from 'vitest';

it('the example in the README of abe runs as it is written', async () => {
  expect(await runSnippet('packages/abe/README.md')).toBe(
    "may go home on Friday\n{ kind: 'refused', reason: 'policy-not-satisfied' }\n",
  );
});
