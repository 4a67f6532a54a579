/** Many values in few statements. */

/** The largest number of values in a statement. */
const MOST_AT_ONCE = 1024;

/**
 * Splits values into one list per statement, the last value repeated up to a power of two: a batch has thousands of
 * names, and the database caches a statement for each number of values.
 */
export function atOnce<Value>(values: readonly Value[]): readonly (readonly Value[])[] {
  return Array.from({ length: Math.ceil(values.length / MOST_AT_ONCE) }, (_, n) => {
    const some = values.slice(n * MOST_AT_ONCE, (n + 1) * MOST_AT_ONCE);
    const length = 2 ** Math.ceil(Math.log2(some.length));
    return Array.from({ length }, (__, i) => some[Math.min(i, some.length - 1)] as Value);
  });
}
