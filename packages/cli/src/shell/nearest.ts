/** The name that a typo probably meant: of a command, or of a flag. */

/** ` (did you mean "task ls"?)`, or an empty text if no name is similar. */
export function didYouMean(names: readonly string[], typed: string): string {
  const name = begun(names, typed) ?? nearestOf(names, typed);
  return name === undefined ? '' : ` (did you mean "${name}"?)`;
}

/** The only name that begins like this. */
function begun(names: readonly string[], typed: string): string | undefined {
  const [only, ...others] = typed.length < 3 ? [] : names.filter((name) => name.startsWith(typed));
  return others.length === 0 ? only : undefined;
}

/** Two letters may be wrong, fewer in a short name. */
function nearestOf(names: readonly string[], typed: string): string | undefined {
  const [first] = names
    .map((name) => ({ name, distance: editDistance(typed, name) }))
    .sort((a, b) => a.distance - b.distance);
  return first !== undefined && first.distance <= Math.min(2, typed.length / 2) ? first.name : undefined;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
