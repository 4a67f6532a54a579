/** Bundles a source of the workspace with named changes to the core: what a rule is worth shows where it is missing. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** In `file` (a path from the root) the text `find`, which must be there exactly once, becomes `replace`. */
export interface SourcePatch {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** The module at `entry` (a path from the root), with everything it imports from our sources, patched. */
export async function importPatched<Module>(entry: string, patches: readonly SourcePatch[]): Promise<Module> {
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'basa-patched-'));
  const applied = new Set<SourcePatch>();
  try {
    const outfile = join(folder, 'patched.mjs');
    await build({
      entryPoints: [join(root, entry)],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'es2022',
      conditions: ['@basa/source'],
      logLevel: 'silent',
      plugins: [
        {
          name: 'patches',
          setup: ({ onLoad }) =>
            onLoad({ filter: /packages\/.*\.ts$/ }, ({ path }) => {
              const mine = patches.filter(({ file }) => path === join(root, file));
              if (mine.length === 0) return undefined;
              for (const patch of mine) applied.add(patch);
              return { contents: mine.reduce(patched, readFileSync(path, 'utf8')), loader: 'ts' };
            }),
        },
      ],
    });
    const unused = patches.find((patch) => !applied.has(patch));
    if (unused !== undefined) throw new Error(`${entry} does not import ${unused.file}`);
    return (await import(pathToFileURL(outfile).href)) as Module;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function patched(text: string, { file, find, replace }: SourcePatch): string {
  const found = text.split(find).length - 1;
  if (found !== 1) throw new Error(`${file}: the text to patch is there ${found} times, not once: ${find}`);
  return text.replace(find, () => replace);
}
