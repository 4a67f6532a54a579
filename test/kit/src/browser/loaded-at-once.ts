/** Which files of a bundle a browser loads with an entry, without being asked for more. */
import type { Metafile } from 'esbuild';

export function loadedAtOnce(outputs: Metafile['outputs'], entry: string): readonly string[] {
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { kind, path: next } of outputs[path]?.imports ?? []) if (kind === 'import-statement') visit(next);
  };
  visit(entry);
  return [...seen];
}
