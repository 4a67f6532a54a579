/** Intervals over seeds. */

/** The 97.5 % quantiles of Student's t with 1, 2, ... degrees of freedom. The last one is used for more. */
const STUDENT = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

export function studentQuantile(degrees: number): number {
  return STUDENT[Math.min(degrees, STUDENT.length) - 1] ?? Number.POSITIVE_INFINITY;
}

/** The mean, and the half width of its 95 % interval by Student's t; a single value has none. */
export function meanInterval(values: readonly number[]): readonly [mean: number, half: number] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const degrees = values.length - 1;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / degrees;
  return [mean, studentQuantile(degrees) * Math.sqrt(variance / values.length)];
}
