/** A rule is tied to the code by the mutant that removes it, and to the page Sees by its words. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';
import { ATTACK_WORDS } from '../../src/attacks/attack-words.ts';
import { ONE_SHOT_ATTACKS } from '../../src/attacks/one-shot/registry.ts';
import { type Edit, MUTANTS } from '../../src/proofs/mutants/list.ts';

it('every rule of the one-shot mode has one attack with words of its own, and a mutant that removes the rule', () => {
  const ids = ONE_SHOT_ATTACKS.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)]);
  expect(ids.filter((id) => ATTACK_WORDS[id] === undefined)).toEqual([]);
  expect(MUTANTS.filter(({ edits }) => edits.length === 0)).toEqual([]);
});

/** Files of mutants are below the protocol unless they give a full path. */
function textOf({ file }: Edit): string {
  return readFileSync(join(ROOT, file.startsWith('packages/') ? file : `packages/protocol/src/${file}`), 'utf8');
}

// The long test that runs the mutants would notice a patch that no longer fits only days later.
it.each(MUTANTS)('every text that is changed for "$name" is in its file once', ({ edits }) => {
  for (const edit of edits) expect(textOf(edit).split(edit.find)).toHaveLength(2);
});
