/** Holm's correction of a family of claims, and the p of a claim. */
import { describe, expect, it } from 'vitest';
import { corrected, type Ordering, type Outcome, ofPaper, ordering } from '../../src/experiments/report/outcome.ts';
import { holm, studentBelow } from '../../src/experiments/report/verdict.ts';

it('Student: the quantiles of the tables', () => {
  expect(studentBelow(2.093, 19)).toBeCloseTo(0.975, 3);
  expect(studentBelow(-2.262, 9)).toBeCloseTo(0.025, 3);
  expect(studentBelow(0, 4)).toBeCloseTo(0.5, 9);
});

it('the smallest p must be below 0.025 / m, the next below 0.025 / (m - 1), and the first that is not ends it', () => {
  expect(holm([0.001, 0.02, 0.013])).toEqual([true, false, false]);
  expect(holm([0.001, 0.02, 0.012])).toEqual([true, true, true]);
  expect(holm([0.03])).toEqual([false]);
});

describe('claims of a run', () => {
  const weak = ordering('weak', [['a', 1, 1, false, [0.85, 0.9, 0.95, 0.88]]]);
  const strong = ordering('strong', [['a', 1, 1, false, [0.5, 0.51, 0.49, 0.5]]]);
  const outcome = (...orderings: readonly Ordering[]): Outcome => ({
    experiment: 'x',
    title: '',
    profile: 'small',
    rows: [],
    tables: [],
    figures: [],
    notes: [],
    orderings,
  });
  const verdicts = (...outcomes: readonly Outcome[]) =>
    corrected(outcomes).flatMap(({ orderings }) => orderings.map(({ verdict }) => verdict));

  it('are one family over all studies: what holds alone does not hold beside many', () => {
    const others = Array.from({ length: 10 }, () => ordering('other', [['a', 1, 1, false, [0.9, 1.2, 1, 1.1]]]));
    expect(weak.verdict).toBe('holds');
    expect(verdicts(outcome(weak))).toEqual(['holds']);
    expect(verdicts(outcome(strong), outcome(weak, ...others)).slice(0, 2)).toEqual(['holds', 'not decided']);
  });

  it('of the paper are not in the family', () => {
    expect(verdicts(outcome(ofPaper('Table 1', weak), strong))).toEqual(['holds', 'holds']);
  });
});
