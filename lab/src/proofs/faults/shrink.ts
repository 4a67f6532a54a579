/** Shortens a failing list until no single entry can be left out of the rest. */

/** `fails` is called with ever shorter lists; the given list must fail. */
export function shrinkList<T>(list: readonly T[], fails: (shorter: readonly T[]) => boolean): readonly T[] {
  let shortest = list;
  for (let size = Math.ceil(shortest.length / 2); size >= 1; ) {
    const shorter = withoutSome(shortest, size, fails);
    if (shorter !== undefined) shortest = shorter;
    else if (size === 1) return shortest;
    else size = Math.ceil(size / 2);
    size = Math.min(size, Math.max(1, shortest.length));
  }
  return shortest;
}

function withoutSome<T>(
  list: readonly T[],
  size: number,
  fails: (shorter: readonly T[]) => boolean,
): readonly T[] | undefined {
  for (let at = 0; at < list.length; at += size) {
    const shorter = [...list.slice(0, at), ...list.slice(at + size)];
    if (fails(shorter)) return shorter;
  }
  return undefined;
}
