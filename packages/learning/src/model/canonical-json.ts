/** One text for one value: a hash must not depend on the order in which an object's keys were written. */

/** JSON with the keys of every object sorted, in ASCII. Throws if a number is not finite, because JSON cannot express it. */
export function canonicalJson(value: unknown): string {
  const text = JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'number' && !Number.isFinite(inner))
      throw new RangeError(`${inner} cannot be written as JSON`);
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  return text.replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
