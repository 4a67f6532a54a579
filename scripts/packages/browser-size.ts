/** What a browser downloads of an entry: bundled and minified by esbuild from the installed packages, and compressed. */
import { relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { FOR_BROWSERS } from '@basa/testkit/browser/bundle-pages.ts';
import { loadedAtOnce } from '@basa/testkit/browser/loaded-at-once.ts';
import { build } from 'esbuild';

export interface BrowserSize {
  readonly minified: number;
  readonly gzipped: number;
  /** Compressed, and loaded by a dynamic import alone. */
  readonly onDemand: number;
  /** The part of it that only tasks with CP-ABE load: what holds the pairing library. */
  readonly pairings: number;
}

export async function browserSize(entry: string, project: string): Promise<BrowserSize> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export * from '${entry}';`, resolveDir: project, sourcefile: 'entry.js' },
    outdir: 'bundle',
    absWorkingDir: project,
    ...FOR_BROWSERS,
    external: ['@tensorflow/*'],
    write: false,
  });
  const [start = ''] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === 'entry.js') ?? [];
  const atOnce = loadedAtOnce(metafile.outputs, start);
  const size = { minified: 0, gzipped: 0, onDemand: 0, pairings: 0 };
  for (const { path, contents } of outputFiles) {
    const gzipped = gzipSync(contents).length;
    if (atOnce.includes(relative(project, path))) {
      size.minified += contents.length;
      size.gzipped += gzipped;
    } else {
      size.onDemand += gzipped;
      const inputs = Object.keys(metafile.outputs[relative(project, path)]?.inputs ?? {});
      if (inputs.some((input) => input.includes('mcl-wasm'))) size.pairings += gzipped;
    }
  }
  return size;
}
