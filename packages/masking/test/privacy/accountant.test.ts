import { deltaOf, epsilonOf, inclusionCost } from '@basa/masking';
import { describe, expect, it } from 'vitest';

const DELTA = 1e-6;

describe('the accountant', () => {
  it.each([
    [1, 1, 5.2],
    [1, 4, 11.7],
    [1, 16, 27.8],
    [4, 1, 1.1],
    [4, 4, 2.4],
    [4, 16, 5.2],
  ])('gives for noise %d after %d inclusions the epsilon %d of the design', (noise, inclusions, epsilon) => {
    expect(epsilonOf(inclusions * inclusionCost(noise), DELTA)).toBeCloseTo(epsilon, 1);
  });

  // By the search of cdp2adp.py, which Canonne, Kamath and Steinke published with their paper (bisections over a and epsilon), in Python.
  it.each([
    [0.5, 1e-6, 5.221534445],
    [8, 1e-6, 27.811968505],
    [0.03125, 1e-6, 1.14292571],
    [2.56, 1e-10, 17.158308713],
    [0.07, 1e-10, 2.387275177],
  ])('agrees for rho %d and delta %d with the reference implementation: %d', (rho, delta, epsilon) => {
    expect(epsilonOf(rho, delta)).toBeCloseTo(epsilon, 6);
  });

  it.each([0.01, 0.5, 3, 20])('lies for rho %d between the exact Gaussian and the bound of Bun and Steinke', (rho) => {
    const epsilon = epsilonOf(rho, DELTA);
    expect(epsilon).toBeLessThan(rho + 2 * Math.sqrt(rho * Math.log(1 / DELTA)));
    expect(gaussianDelta(Math.sqrt(2 * rho), epsilon)).toBeLessThan(DELTA);
  });

  it('is the inverse of delta', () => {
    expect(deltaOf(0.5, epsilonOf(0.5, DELTA))).toBeCloseTo(DELTA, 12);
    expect(deltaOf(2, epsilonOf(2, 0.01))).toBeCloseTo(0.01, 8);
  });

  it('charges nothing for no inclusion and rejects an invalid rho or delta', () => {
    expect(epsilonOf(0, DELTA)).toBe(0);
    for (const rho of [-1, Number.NaN, Number.POSITIVE_INFINITY]) expect(() => epsilonOf(rho, DELTA)).toThrow('rho');
    for (const delta of [0, 1, -1, Number.NaN]) expect(() => epsilonOf(1, delta)).toThrow('delta');
  });
});

/** Balle and Wang 2018: the exact delta of a Gaussian whose shift is mu deviations. */
function gaussianDelta(mu: number, epsilon: number): number {
  return upper(epsilon / mu - mu / 2) - Math.exp(epsilon) * upper(epsilon / mu + mu / 2);
}

/** P(N > x) by Simpson's rule. */
function upper(x: number): number {
  const [steps, end] = [20_000, 20];
  const h = (end - x) / steps;
  let sum = 0;
  for (let k = 0; k <= steps; k++) {
    const factor = k === 0 || k === steps ? 1 : k % 2 === 1 ? 4 : 2;
    sum += factor * Math.exp(-((x + k * h) ** 2) / 2);
  }
  return (sum * h) / 3 / Math.sqrt(2 * Math.PI);
}
