/** The files of a bundle that a browser loads together with an entry. */
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
