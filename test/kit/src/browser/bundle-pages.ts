/** The pages of @basa/web as files that a server serves: scripts, workers, styles, and nothing from elsewhere. */
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { bundleFolder } from '../processes/bundle.ts';
import { ROOT } from '../root.ts';
import { writeDocuments } from './page-frame.ts';

const web = join(ROOT, 'packages/web');

/**
 * Scripts by the name of the file they become. Scripts that are bundled together share chunks, and a chunk holds what
 * any of its users needs: a page must not load code that only a worker uses, nor the worker of a device code that only
 * simulations use.
 */
const TOGETHER: readonly Readonly<Record<string, string>>[] = [
  {
    watch: 'src/web/watch/main.ts',
    join: 'src/web/join/main.ts',
    play: 'src/web/play/main.ts',
    sees: 'src/web/sees/main.ts',
    style: 'site/style.css',
  },
  { 'device-worker': 'src/web/join/device-worker.ts' },
  { 'play-worker': 'src/web/play/play-worker.ts', 'sees-worker': 'src/web/sees/sees-worker.ts' },
];

/** Options of every bundle for browsers. */
export const FOR_BROWSERS = {
  bundle: true,
  splitting: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  metafile: true,
  logLevel: 'error',
} as const;

export async function bundlePages(folder: string): Promise<Metafile['outputs']> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const made = await Promise.all(TOGETHER.map((entries) => bundle(folder, entries)));
  const site = join(web, 'site');
  copyFileSync(join(site, 'icon.svg'), join(folder, 'icon.svg'));
  writeDocuments(site, folder);
  return Object.assign({}, ...made.map(({ metafile }) => metafile.outputs)) as Metafile['outputs'];
}

let pages: Promise<string> | undefined;

/** The folder of the pages, bundled once in a process. */
export function bundledPages(): Promise<string> {
  const folder = bundleFolder('pages');
  pages ??= bundlePages(folder).then(() => folder);
  return pages;
}

function bundle(folder: string, entries: Readonly<Record<string, string>>) {
  return build({
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(web, path)])),
    outdir: folder,
    absWorkingDir: ROOT,
    ...FOR_BROWSERS,
    chunkNames: 'parts/[name]-[hash]',
    conditions: ['@basa/source'],
  });
}

/** The files of a bundle that a browser loads together with an entry. */
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
