/** A statistical attack on sums of noisy updates: it must find no more than the accountant allows, and more with less noise. */

import { deltaOf, inclusionCost, RING_32, toSigned } from '@basa/masking';
import type { SumRules } from '@basa/protocol/internal/wire/input.ts';
import { buildInput } from '@basa/protocol/one-shot';
import { seededWords } from '@basa/simulator/node';
import { rulesOf } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

const [DIMENSION, LEVEL, HONEST, TRIALS] = [4, 16, 3, 2500];
const PRIVACY = { noiseMultiplier: 1, colluders: 1, budget: { delta: 1e-6, participations: 1 } };
const EPSILON = 2;
const PREFIX = 5;

const RULES = rulesOf({ bufferSize: 4, minimum: 4, dimension: DIMENSION, level: LEVEL, privacy: PRIVACY });

/** The statistic of a server that knows the victim's update: the sum of the honest, along the update. */
function statistics(rules: SumRules, isIn: boolean, seed: number): Float64Array {
  const zero = new Float32Array(DIMENSION);
  const victim = zero.map(() => 1 / Math.sqrt(DIMENSION));
  const randomWords = seededWords(seed);
  return Float64Array.from({ length: TRIALS }, () => {
    let sum = 0;
    for (let user = 0; user < HONEST; user++) {
      const delta = user === 0 && isIn ? victim : zero;
      const built = buildInput(rules, { delta, randomWords });
      if (built.kind === 'refused') throw new Error(built.reason);
      for (const residue of built.vector.subarray(PREFIX)) sum += toSigned(residue, RING_32);
    }
    return sum;
  });
}

/** The largest P(E | in) - e^epsilon P(E | out) over the events "the sum is above t". */
function advantage(present: Float64Array, absent: Float64Array): number {
  const shareAbove = (values: Float64Array, t: number): number => values.filter((value) => value > t).length / TRIALS;
  const thresholds = Array.from({ length: 40 }, (_, n) => 4 * n);
  return Math.max(...thresholds.map((t) => shareAbove(present, t) - Math.exp(EPSILON) * shareAbove(absent, t)));
}

describe('an attacker who looks for one update in sums of rounded, noisy updates', () => {
  const bound = deltaOf(inclusionCost(PRIVACY.noiseMultiplier), EPSILON);
  // Half the variance: what colluders would leave if the honest were counted twice.
  const halved = { ...RULES, privacy: { ...PRIVACY, noiseMultiplier: Math.SQRT1_2 } };

  it('has no more advantage than the accountant allows', () => {
    const found = advantage(statistics(RULES, true, 1), statistics(RULES, false, 2));
    expect(found).toBeLessThan(bound);
  });

  it('has more than that with half the noise: the experiment would notice', () => {
    const found = advantage(statistics(halved, true, 3), statistics(halved, false, 4));
    expect(found).toBeGreaterThan(1.3 * bound);
  });
});
