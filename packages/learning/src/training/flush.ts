/**
 * Between layers, forwards and backwards, values below 1e-18 become zero. Their products would be subnormal numbers in single precision,
 * which some processors handle many times slower: the time of a training would tell what its data and a model chosen for it have in common.
 */

const LEAST = Math.fround(1e-18);

/** The same array, changed in place. NaN stays. */
export function flushed(values: Float64Array): Float64Array {
  for (let n = 0; n < values.length; n++) if (Math.abs(values[n] as number) < LEAST) values[n] = 0;
  return values;
}
