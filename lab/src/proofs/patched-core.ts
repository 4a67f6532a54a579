/** Bundles a source file of the workspace with named changes to the core. Removing a rule shows what the rule protects. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FOR_NODE } from '@basa/testkit/processes/bundle.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { build } from 'esbuild';

/** Replaces the text `find` in `file` (a path from the root) with `replace`; it must occur exactly once. */
export interface SourcePatch {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** The module at `entry` (a path from the root), with everything it imports from our sources, patched. */
export async function importPatched<Module>(entry: string, patches: readonly SourcePatch[]): Promise<Module> {
  return withPatchedBundle(entry, patches, (bundle) => import(pathToFileURL(bundle).href) as Promise<Module>);
}

/** Passes the path of the patched bundle to `use`, and removes it afterwards. */
export async function withPatchedBundle<Result>(
  entry: string,
  patches: readonly SourcePatch[],
  use: (bundle: string) => Promise<Result>,
): Promise<Result> {
  const cache = join(ROOT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'basa-patched-'));
  try {
    const bundle = join(folder, 'patched.mjs');
    await bundlePatched(entry, patches, bundle);
    return await use(bundle);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function bundlePatched(entry: string, patches: readonly SourcePatch[], outfile: string): Promise<void> {
  const applied = new Set<SourcePatch>();
  await build({
    ...FOR_NODE,
    entryPoints: [join(ROOT, entry)],
    outfile,
    logLevel: 'silent',
    plugins: [
      {
        name: 'patches',
        setup: ({ onLoad }) =>
          onLoad({ filter: /packages\/.*\.ts$/ }, ({ path }) => {
            const mine = patches.filter(({ file }) => path === join(ROOT, file));
            if (mine.length === 0) return undefined;
            for (const patch of mine) applied.add(patch);
            return { contents: mine.reduce(patched, readFileSync(path, 'utf8')), loader: 'ts' };
          }),
      },
    ],
  });
  const unused = patches.find((patch) => !applied.has(patch));
  if (unused !== undefined) throw new Error(`${entry} does not import ${unused.file}`);
}

function patched(text: string, { file, find, replace }: SourcePatch): string {
  const found = text.split(find).length - 1;
  if (found !== 1)
    throw new Error(`${file}: the text to patch occurs ${found} times instead of once: ${JSON.stringify(find)}`);
  return text.replace(find, () => replace);
}
