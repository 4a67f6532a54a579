/** Sets the value as the newest of the map, which forgets its oldest when it holds more than `most`. */
export function remember<Value>(values: Map<string, Value>, name: string, value: Value, most = 10_000): void {
  values.delete(name); // otherwise it would keep its old position
  values.set(name, value);
  const [oldest = name] = values.keys();
  if (values.size > most) values.delete(oldest);
}
