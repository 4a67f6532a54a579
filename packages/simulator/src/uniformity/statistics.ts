/** Chi-square and Welch's t with p-values: the significance of a table of counts or of two means. */

export interface TestResult {
  readonly statistic: number;
  readonly degrees: number;
  /** The chance of a statistic at least this large under the null hypothesis. */
  readonly pValue: number;
}

/** Tests that counts come from equally likely bins (Pearson). */
export function chiSquareUniform(counts: ArrayLike<number>): TestResult {
  const total = sumOf(counts);
  const expected = total / counts.length;
  if (!(expected >= 5)) throw new RangeError(`${total} observations are too few for ${counts.length} bins`);
  let statistic = 0;
  for (let n = 0; n < counts.length; n++) statistic += ((counts[n] as number) - expected) ** 2 / expected;
  return chiSquareResult(statistic, counts.length - 1);
}

/** Tests that two rows of counts come from one distribution of any shape. Bins that are empty in both are ignored. */
export function chiSquareTwoSample(a: ArrayLike<number>, b: ArrayLike<number>): TestResult {
  if (a.length !== b.length) throw new RangeError(`${a.length} bins against ${b.length}`);
  const [totalA, totalB] = [sumOf(a), sumOf(b)];
  if (totalA === 0 || totalB === 0) throw new RangeError('a sample is empty');
  let statistic = 0;
  let bins = 0;
  for (let n = 0; n < a.length; n++) {
    const both = (a[n] as number) + (b[n] as number);
    if (both === 0) continue;
    bins++;
    for (const [count, total] of [
      [a[n] as number, totalA],
      [b[n] as number, totalB],
    ] as const) {
      const expected = (both * total) / (totalA + totalB);
      statistic += (count - expected) ** 2 / expected;
    }
  }
  return chiSquareResult(statistic, Math.max(1, bins - 1));
}

/** Welch's t over histograms of 0, 1, 2, ..: tests that two means are equal; with this many observations t is a normal deviate. */
export function welch(a: ArrayLike<number>, b: ArrayLike<number>): TestResult {
  const [first, second] = [momentsOf(a), momentsOf(b)];
  const error = first.variance / first.count + second.variance / second.count;
  const difference = first.mean - second.mean;
  const t = error > 0 ? difference / Math.sqrt(error) : difference === 0 ? 0 : Number.POSITIVE_INFINITY;
  // A squared normal deviate is chi-square with one degree of freedom, which covers both tails.
  return { statistic: t, degrees: first.count + second.count - 2, pValue: chiSquareResult(t * t, 1).pValue };
}

function momentsOf(histogram: ArrayLike<number>): { count: number; mean: number; variance: number } {
  const count = sumOf(histogram);
  if (count < 2) throw new RangeError('fewer than two observations');
  let sum = 0;
  let squares = 0;
  for (let value = 0; value < histogram.length; value++) {
    sum += (histogram[value] as number) * value;
    squares += (histogram[value] as number) * value * value;
  }
  const mean = sum / count;
  return { count, mean, variance: (squares - count * mean * mean) / (count - 1) };
}

function sumOf(counts: ArrayLike<number>): number {
  let total = 0;
  for (let n = 0; n < counts.length; n++) total += counts[n] as number;
  return total;
}

function chiSquareResult(statistic: number, degrees: number): TestResult {
  return { statistic, degrees, pValue: upperGamma(degrees / 2, statistic / 2) };
}

const TERMS = 10_000;
const PRECISION = 1e-15;

/** Q(a, x) = Gamma(a, x) / Gamma(a), by its series below a + 1 and its continued fraction (Lentz) above. */
function upperGamma(a: number, x: number): number {
  if (x === Number.POSITIVE_INFINITY) return 0;
  if (x <= 0) return 1;
  const front = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = 1; n < TERMS && term > sum * PRECISION; n++) {
      term *= x / (a + n);
      sum += term;
    }
    return 1 - front * sum;
  }
  let b = x + 1 - a;
  let c = 1e300;
  let d = 1 / b;
  let fraction = d;
  for (let n = 1; n < TERMS; n++) {
    const an = -n * (n - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    fraction *= d * c;
    if (Math.abs(d * c - 1) < PRECISION) break;
  }
  return front * fraction;
}

/** ln Gamma(a) by Stirling's series, after the recurrence has brought a above 10. */
function logGamma(a: number): number {
  let shift = 0;
  let z = a;
  for (; z < 10; z++) shift += Math.log(z);
  const inverse = 1 / z;
  const series = inverse / 12 - inverse ** 3 / 360 + inverse ** 5 / 1260 - inverse ** 7 / 1680;
  return (z - 0.5) * Math.log(z) - z + Math.log(2 * Math.PI) / 2 + series - shift;
}
