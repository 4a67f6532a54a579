/** Each rule is there for an attack: without it the attack learns more than sums of enough devices. */
import { describe, expect, it } from 'vitest';
import { judgeRule, runPatched } from '../../src/oracle/mutants.ts';
import { RULES } from '../../src/oracle/rules/all.ts';

describe('the code without a rule', () => {
  it.each(RULES)('is caught: $without', async (rule) => {
    const verdict = await judgeRule(rule);
    expect(verdict).toMatchObject({ unpatchedHolds: true, caught: true, eachAloneStops: true });
    expect(verdict.learned).toEqual(rule.learned);
  });

  it('is found by generated schedules as well', async () => {
    const rule = RULES.find(({ id }) => id === 'once');
    const { generated } = await runPatched(rule?.edits ?? [], 'once', 60);
    expect(generated?.leaked.length).toBeGreaterThan(0);
  });
});
