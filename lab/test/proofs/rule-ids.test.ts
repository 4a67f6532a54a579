/** A rule is tied to the code by its id in the name of a test that fails without it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { describe, expect, it } from 'vitest';
import { CORE_RULES, HOST_RULES, LOG_RULES } from '../../src/proofs/explorer/missing-rules.ts';
import { MUTANTS } from '../../src/proofs/mutants/list.ts';
import { MISSING_RULES } from '../../src/proofs/rules/worlds.ts';

const TESTS = join(ROOT, 'packages/protocol/test');
const names = [
  ...readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(TESTS, name), 'utf8')),
  // Each of them is the name of a test in mutants.long.test.ts.
  ...MUTANTS.map(({ name }) => name),
].join('\n');
const page = readFileSync(join(ROOT, 'docs/rules.md'), 'utf8');
const needed = [
  ...MISSING_RULES.flatMap(({ id, name, problem }) => (id === undefined ? [] : [{ id, name, problem }])),
  ...[...HOST_RULES, ...CORE_RULES, ...LOG_RULES].flatMap(({ id, name }) =>
    id === undefined ? [] : [{ id, name, problem: '' }],
  ),
];

describe.each(needed)('rule $id, "$name"', ({ id, name, problem }) => {
  it('is in the name of a test', () => {
    expect(names).toContain(`[${id}]`);
  });

  it('is in docs/rules.md with the promise that breaks without it', () => {
    expect(page).toContain(`| ${id} | ${name.split(':')[0]} | ${problem}`);
  });
});

it('no test names a rule that is never left out', () => {
  const ids = new Set([...names.matchAll(/\[(R\d+)\]/g)].map(([, id]) => id));
  expect(new Set(needed.map(({ id }) => id))).toEqual(ids);
});

it('every mutant with an id of the one-shot mode is a line of docs/rules.md, and every line has a mutant', () => {
  const ids = MUTANTS.flatMap(({ name }) => [...name.matchAll(/\[(S\d+)\]/g)].map(([, id]) => id));
  const lines = [...page.matchAll(/^\| (S\d+) \|/gm)].map(([, id]) => id);
  expect(new Set(lines).size).toBe(lines.length);
  expect(new Set(ids)).toEqual(new Set(lines));
});
