/** Caches results: each is computed once and then looked up. */
export function remembered<Key, Value>(table: Map<Key, Value>, key: Key, compute: () => Value): Value {
  const known = table.get(key);
  if (known !== undefined || table.has(key)) return known as Value;
  const value = compute();
  table.set(key, value);
  return value;
}
