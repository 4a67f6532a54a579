/**
 * exp and ln from only additions, multiplications and divisions: these are exact in IEEE 754, so the results have the
 * same bits everywhere. Math.exp, Math.log and Math.pow may differ between backends. Relative error below 1e-15.
 */

const LN2_HIGH = 0.6931471803691238; // the upper bits of ln 2: k * LN2_HIGH is exact for |k| < 2^11
const LN2_LOW = 1.9082149292705877e-10;
const LOG2_E = Math.LOG2E;

/** e^x. */
export function exp(x: number): number {
  if (!(x > -745.2)) return Number.isNaN(x) ? x : 0;
  if (x > 709.78) return Number.POSITIVE_INFINITY;
  const k = Math.round(x * LOG2_E);
  const r = x - k * LN2_HIGH - k * LN2_LOW;
  let sum = 1;
  for (let n = 13; n > 0; n--) sum = 1 + (sum * r) / n;
  return timesPowerOfTwo(sum, k);
}

function timesPowerOfTwo(x: number, exponent: number): number {
  let k = exponent;
  let scaled = x;
  for (; k >= 32; k -= 32) scaled *= 4_294_967_296;
  for (; k <= -32; k += 32) scaled /= 4_294_967_296;
  for (; k > 0; k--) scaled *= 2;
  for (; k < 0; k++) scaled /= 2;
  return scaled;
}

/** ln x for x >= 0: 2 atanh((m - 1) / (m + 1)) for the mantissa m in [sqrt(1/2), sqrt 2), plus k ln 2. */
export function ln(x: number): number {
  if (!(x > 0)) return x === 0 ? Number.NEGATIVE_INFINITY : Number.NaN;
  if (x === Number.POSITIVE_INFINITY) return x;
  let mantissa = x;
  let k = 0;
  for (; mantissa >= Math.SQRT2; k++) mantissa /= 2;
  for (; mantissa < Math.SQRT1_2; k--) mantissa *= 2;
  const t = (mantissa - 1) / (mantissa + 1);
  const square = t * t;
  let sum = 0;
  for (let n = 21; n > 0; n -= 2) sum = sum * square + 1 / n;
  return k * LN2_HIGH + (2 * t * sum + k * LN2_LOW);
}

/** base^exponent for base > 0; square roots and whole powers of one are exact. */
export function power(base: number, exponent: number): number {
  if (exponent === 0 || base === 1) return 1;
  if (exponent === 0.5) return Math.sqrt(base);
  if (exponent === -0.5) return 1 / Math.sqrt(base);
  if (exponent === 1) return base;
  if (exponent === -1) return 1 / base;
  return exp(exponent * ln(base));
}
