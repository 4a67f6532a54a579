/** Each rule is there for an attack: without it the attack learns more than sums of enough devices. */
import { describe, expect, it } from 'vitest';
import { judgeRule, runPatched } from '../../src/oracle/mutants.ts';
import { RULES } from '../../src/oracle/rules/all.ts';

const ruleOf = (id: string) => {
  const rule = RULES.find((one) => one.id === id);
  if (rule === undefined) throw new Error('no such rule');
  return rule;
};

describe('the code without a rule', () => {
  // Some of them; the others take long.
  it.each(['once', 'bound-parts'])('is caught, and each check of the rule alone stops the attack [%s]', async (id) => {
    const rule = ruleOf(id);
    expect(await judgeRule(rule)).toMatchObject({
      unpatchedHolds: true,
      caught: true,
      eachAloneStops: true,
      learned: rule.learned,
    });
  });

  it('that no longer fits the code fails by name instead of passing unnoticed', async () => {
    const stale = { file: 'protocol/src/one-shot/rules.ts', find: 'a line that is not there', replace: '' };
    await expect(runPatched([stale], 'once')).rejects.toThrow('occurs 0 times instead of once');
  });
});
