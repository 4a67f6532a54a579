// A private task (docs/wire-format.md, "Upload"): the update is clipped by its L2 norm, rounded within a bound, and gets discrete Gaussian noise.
import { randomBytes } from 'node:crypto';

/** D²: no rounded update that goes may have a larger squared norm. */
const squaredBound = ({ level, clip, d }) => (level * clip) ** 2 + d / 4 + (level * clip + Math.sqrt(d) / 2);

/** s²: of the noise that each device adds. */
export const varianceOf = (drawn) =>
  (drawn.privacy.noise ** 2 * squaredBound(drawn)) / (drawn.Kmin - drawn.privacy.colluders);

const BITS = 320n;
const ONE = 1n << BITS;
const times = (a, b) => (a * b) >> BITS;

/** The exact number that a double of 1 and more is, in fixed point. */
const fixed = (value) => BigInt(value * 2 ** 52) << (BITS - 52n);

/** e^-x for 0 < x < 1 in fixed point, by its series. */
function expOfMinus(x) {
  let [sum, term] = [ONE, ONE];
  for (let k = 1n; term > 0n; k++) {
    term = times(term, x) / k;
    sum += k % 2n === 1n ? -term : term;
  }
  return sum;
}

/** floor(2^127 P(|N_Z| <= k)) for every k whose weight e^(-k²/2s²) is above 2^-132. */
function thresholds(variance) {
  const base = expOfMinus((ONE * ONE) / (2n * fixed(variance)));
  const weights = [ONE];
  for (let [step, weight] = [base, base]; weight > ONE >> 132n; ) {
    weights.push(2n * weight); // k and -k
    step = times(step, times(base, base)); // base^(2k+1), from the weight of k to that of k + 1
    weight = times(weight, step);
  }
  const all = weights.reduce((sum, weight) => sum + weight);
  let below = 0n;
  return weights.map((weight) => {
    below += weight;
    return (below << 127n) / all;
  });
}

/** A function that draws from N_Z(0, variance), of 16 random bytes. */
export function gaussian(variance) {
  const table = thresholds(variance);
  return (words = randomBytes(16)) => {
    const number = BigInt(`0x${words.toString('hex')}`);
    const size = table.findIndex((threshold) => number >> 1n < threshold);
    return number & 1n ? 0 - size : size;
  };
}

/** R + N: the first of independent roundings that is within the bound, and noise. */
export function roundedWithNoise(round, drawn) {
  let rounded;
  do rounded = round();
  while (rounded.reduce((sum, X) => sum + X * X, 0) > squaredBound(drawn));
  const draw = gaussian(varianceOf(drawn));
  return rounded.map((X) => X + draw());
}
