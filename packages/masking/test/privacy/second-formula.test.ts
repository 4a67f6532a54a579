/** The accountant beside formulas that share nothing with it, over a grid of costs and deltas. */
import { epsilonOf } from '@basa/masking';
import { describe, expect, it } from 'vitest';

const COSTS = [0.001, 0.01, 0.05, 0.125, 0.5, 1, 2, 8, 32, 100];
const DELTAS = [1e-12, 1e-9, 1e-6, 1e-5, 1e-3];
const GRID = COSTS.flatMap((rho) => DELTAS.map((delta) => [rho, delta] as const));

describe('epsilon', () => {
  it.each(GRID)('of rho %f and delta %f is the least over a dense list of Renyi orders', (rho, delta) => {
    let least = Number.POSITIVE_INFINITY;
    // Mironov 2017: the Gaussian has Renyi divergence a rho. Canonne, Kamath, Steinke 2020, Proposition 12, written with 1 - 1/a as a ratio.
    for (let step = 0; step <= 40_000; step++) {
      const a = 1 + 10 ** (-4 + (step / 40_000) * 10);
      least = Math.min(least, a * rho + Math.log((((a - 1) / a) ** a / (a - 1)) * (1 / delta)) / (a - 1));
    }
    expect(epsilonOf(rho, delta) / least).toBeGreaterThan(1 - 1e-6);
    expect(epsilonOf(rho, delta) / least).toBeLessThan(1 + 1e-9);
  });

  it.each(GRID)(
    'of rho %f and delta %f lies between the exact one of the Gaussian and the older bound',
    (rho, delta) => {
      const epsilon = epsilonOf(rho, delta);
      // Bun and Steinke 2016, Proposition 1.3.
      expect(epsilon).toBeLessThan(rho + 2 * Math.sqrt(rho * Math.log(1 / delta)));
      // Balle and Wang 2018, Theorem 8, for a sensitivity of mu standard deviations: no bound may be below it.
      const mu = Math.sqrt(2 * rho);
      const exactDelta = (e: number): number => normal(mu / 2 - e / mu) - Math.exp(e) * normal(-mu / 2 - e / mu);
      expect(exactDelta(epsilon)).toBeLessThan(delta);
      expect(exactDelta(0.75 * epsilon)).toBeGreaterThan(delta);
    },
  );
});

/** Phi(x): the series near zero, the continued fraction of Laplace in the tails. */
function normal(x: number): number {
  if (x > 3) return 1 - normal(-x);
  const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  if (x < -3) {
    let fraction = -x;
    for (let n = 200; n > 0; n--) fraction = -x + n / fraction;
    return density / fraction;
  }
  let [sum, term] = [x, x];
  for (let n = 1; Math.abs(term) > 1e-18; n++) {
    term *= (x * x) / (2 * n + 1);
    sum += term;
  }
  return 0.5 + sum * density;
}
