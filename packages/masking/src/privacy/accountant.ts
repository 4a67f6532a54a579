/**
 * The privacy budget that is spent. A buffer whose honest users add noise of z times the sensitivity costs each of them
 * rho = 1/(2 z^2) of zero concentrated differential privacy (Bun, Steinke 2016), costs add up, and a sum of costs
 * becomes (epsilon, delta) by Proposition 12 of Canonne, Kamath, Steinke 2020. There is no amplification by sampling,
 * because arrivals are not random.
 */

/** rho of one inclusion. */
export function inclusionCost(noiseMultiplier: number): number {
  return 1 / (2 * noiseMultiplier ** 2);
}

/** a - 1 of the orders that are looked at, as natural logarithms: optima lie near sqrt(ln(1/delta) / rho). */
const MIN_ORDER = Math.log(1e-6);
const MAX_ORDER = Math.log(1e12);
const STEPS = 200;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/**
 * The smallest epsilon that the formula gives for this rho: the minimum over a > 1 of a rho + [ln(1/delta) + a ln(1 -
 * 1/a) - ln(a - 1)] / (a - 1). Every order a gives a true bound, so a search that stops early errs on the safe side.
 * The bound has one valley in a: for each epsilon, ln delta is convex in a.
 */
export function epsilonOf(rho: number, delta: number): number {
  if (!(rho >= 0 && Number.isFinite(rho))) throw new RangeError(`rho must be a number from 0 on, got ${rho}`);
  if (!(delta > 0 && delta < 1)) throw new RangeError(`delta must be in (0, 1), got ${delta}`);
  if (rho === 0) return 0;
  const least = valley((order) => epsilonAt(order, rho, delta));
  return Math.max(0, least);
}

/** The smallest delta for an epsilon: min over a > 1 of exp((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1). */
export function deltaOf(rho: number, epsilon: number): number {
  if (rho === 0) return 0;
  const exponent = valley((order) => {
    const a = 1 + order;
    return order * (a * rho - epsilon) + a * Math.log1p(-1 / a) - Math.log(order);
  });
  return Math.min(1, Math.exp(exponent));
}

/** `order` is a - 1. */
function epsilonAt(order: number, rho: number, delta: number): number {
  const a = 1 + order;
  return a * rho + (-Math.log(delta) + a * Math.log1p(-1 / a) - Math.log(order)) / order;
}

/** Golden section over ln(a - 1). */
function valley(f: (order: number) => number): number {
  let [low, high] = [MIN_ORDER, MAX_ORDER];
  let [left, right] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
  let [atLeft, atRight] = [f(Math.exp(left)), f(Math.exp(right))];
  for (let step = 0; step < STEPS; step++) {
    if (atLeft <= atRight) {
      [high, right, atRight] = [right, left, atLeft];
      left = high - GOLDEN * (high - low);
      atLeft = f(Math.exp(left));
    } else {
      [low, left, atLeft] = [left, right, atRight];
      right = low + GOLDEN * (high - low);
      atRight = f(Math.exp(right));
    }
  }
  return Math.min(atLeft, atRight);
}
