/** A rule is tied to the code by the edits that remove it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';
import { RULES } from '../../src/oracle/rules/all.ts';

it('every rule has a name and a mutant of its own', () => {
  expect(new Set(RULES.map(({ id }) => id)).size).toBe(RULES.length);
  expect(RULES.filter(({ edits }) => edits.length === 0)).toEqual([]);
});

// The long test that runs the mutants would notice a patch that no longer fits only days later.
it.each(RULES)('every text that is changed to remove "$id" is in its file once', ({ edits }) => {
  for (const { file, find } of edits)
    expect(readFileSync(join(ROOT, 'packages', file), 'utf8').split(find)).toHaveLength(2);
});
