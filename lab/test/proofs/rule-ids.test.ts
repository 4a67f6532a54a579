/** A rule is tied to the code by its id in the name of a test that fails without it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';
import { ATTACK_WORDS } from '../../src/attacks/attack-words.ts';
import { ONE_SHOT_ATTACKS } from '../../src/attacks/one-shot/registry.ts';
import { CORE_RULES, HOST_RULES, LOG_RULES } from '../../src/proofs/explorer/missing-rules.ts';
import { MUTANTS } from '../../src/proofs/mutants/list.ts';
import { MUTANTS_OF_ONE_SHOT } from '../../src/proofs/mutants/of-one-shot.ts';
import { MISSING_RULES } from '../../src/proofs/rules/worlds.ts';

const TESTS = join(ROOT, 'packages/protocol/test');
const names = [
  ...readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(TESTS, name), 'utf8')),
  // Each of them is the name of a test in mutants.long.test.ts.
  ...MUTANTS.map(({ name }) => name),
].join('\n');
const needed = [...MISSING_RULES, ...HOST_RULES, ...CORE_RULES, ...LOG_RULES].flatMap(({ id, name }) =>
  id === undefined ? [] : [{ id, name }],
);

it.each(needed)('rule $id, "$name", is in the name of a test', ({ id }) => {
  expect(names).toContain(`[${id}]`);
});

it('no test names a rule that is never left out', () => {
  const ids = new Set([...names.matchAll(/\[(R\d+)\]/g)].map(([, id]) => id));
  expect(new Set(needed.map(({ id }) => id))).toEqual(ids);
});

it('every rule of the one-shot mode has one attack with words of its own, and a mutant that removes the rule', () => {
  const ids = ONE_SHOT_ATTACKS.map(({ id }) => id);
  expect(ids).toHaveLength(26);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => ATTACK_WORDS[id] === undefined)).toEqual([]);
  expect(MUTANTS_OF_ONE_SHOT.filter(({ edits }) => edits.length === 0)).toEqual([]);
});
