/** The pages of @basa/dashboard as files that a server serves: scripts, workers, styles, and nothing from elsewhere. */
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Metafile } from 'esbuild';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dashboard = join(root, 'packages/dashboard');

/** Scripts of pages and workers by the name of the file they become. */
export const PAGE_SCRIPTS = {
  watch: 'src/web/watch/main.ts',
  join: 'src/web/join/main.ts',
  'device-worker': 'src/web/join/device-worker.ts',
  play: 'src/web/play/main.ts',
  'play-worker': 'src/web/play/play-worker.ts',
  sees: 'src/web/sees/main.ts',
  'sees-worker': 'src/web/sees/sees-worker.ts',
  style: 'site/style.css',
} as const;

/** `more` entries, by name and path, are bundled beside them: what a test runs in a page's place. */
export async function bundlePages(folder: string, more: Readonly<Record<string, string>> = {}): Promise<Metafile> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const own = Object.entries(PAGE_SCRIPTS).map(([name, path]) => [name, join(dashboard, path)]);
  const { metafile } = await build({
    entryPoints: { ...Object.fromEntries(own), ...more },
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    chunkNames: 'parts/[name]-[hash]',
    conditions: ['@basa/source'],
    metafile: true,
    logLevel: 'error',
  });
  const site = join(dashboard, 'site');
  for (const name of readdirSync(site)) if (!name.endsWith('.css')) copyFileSync(join(site, name), join(folder, name));
  return metafile;
}
