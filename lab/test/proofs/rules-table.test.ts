/** The table of docs/rules.md is true of pages, sources and tests; that the tests fail is looked at by `prove -- rules`, rule by rule. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { describe, expect, it } from 'vitest';
import { MUTANTS } from '../../src/proofs/mutants/list.ts';
import { HELD_BY } from '../../src/proofs/rules/held-by.ts';
import { tableOfRules } from '../../src/proofs/rules/table.ts';
import { MISSING_RULES } from '../../src/proofs/rules/worlds.ts';

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const timesIn = (text: string, part: string): number => text.split(part).length - 1;

describe('docs/rules.md', () => {
  it('holds the table as it is: npm run lab -- prove rules --table prints it', () => {
    expect(read('docs/rules.md')).toContain(tableOfRules());
  });

  it('has a line for every rule that the model cannot do without', () => {
    const needed = MISSING_RULES.filter(({ problem }) => problem !== undefined).map(({ name }) => name.split(':')[0]);
    expect(new Set(HELD_BY.map(({ rule }) => rule))).toEqual(new Set(needed));
  });

  it.each(HELD_BY)('quotes page, code and test of "$rule" as they are', (held) => {
    expect(read(held.page).replaceAll(/\s+/g, ' ')).toContain(held.says);
    expect(timesIn(read(held.file), held.code)).toBe(1);
    if ('mutant' in held) expect(MUTANTS.map(({ name }) => name)).toContain(held.mutant);
    else expect(read(held.tests)).toContain(held.claim);
  });
});
