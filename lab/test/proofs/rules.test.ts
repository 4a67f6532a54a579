/** The model of the rules: its small worlds keep every promise, and each rule that is left out breaks one. */
import { describe, expect, it } from 'vitest';
import { MISSING_RULES, RULE_WORLDS } from '../../src/proofs/rules/worlds.ts';

describe('the rules', () => {
  it.each(RULE_WORLDS.filter(({ isSmall }) => isSmall))('keep every promise in every state: $name', ({ run }) => {
    const { counterexample, complete, states } = run();
    expect(counterexample).toBeUndefined();
    expect(complete).toBe(true);
    expect(states).toBeGreaterThan(20);
  });

  it.each(MISSING_RULES.filter(({ problem }) => problem !== undefined))('break without "$name"', ({ run, problem }) => {
    expect(run().counterexample?.problem).toBe(problem);
  });

  it.each(MISSING_RULES.filter(({ problem }) => problem === undefined))(
    'hold without "$name", which is a second line',
    ({ run }) => {
      const { counterexample, complete } = run();
      expect({ counterexample, complete }).toEqual({ counterexample: undefined, complete: true });
    },
  );
});
