/** One text for one value, by which states are compared and looked up. */
import { Secret, toHex } from '@basa/masking';

/** Byte strings as hexadecimal, maps by key, secrets with their bytes: nothing of the value is left out. */
export function canonical(value: unknown): string {
  if (value instanceof Uint8Array) return toHex(value);
  if (value instanceof Secret) return toHex(value.reveal());
  if (value instanceof Map) return canonical([...value].sort(([a], [b]) => (a < b ? -1 : 1)));
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return `{${fields
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field]) => `${name}:${canonical(field)}`)
      .join()}}`;
  }
  return String(value);
}
