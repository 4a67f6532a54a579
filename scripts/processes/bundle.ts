/** Both services and the processes of the long checks as single files: a process that is killed often must start fast. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What is bundled, by the name of the file it becomes. The server looks for its worker beside itself. */
const ENTRIES = {
  authority: 'packages/authority/src/main.ts',
  server: 'packages/server/src/main.ts',
  'work/worker': 'packages/server/src/closing/work/worker.ts',
  devices: 'scripts/crash/devices.ts',
  'durable-moments': 'scripts/crash/durable-moments.ts',
  discard: 'bench/server/discard.ts',
  steps: 'bench/server/steps.ts',
  'clock-ahead': 'scripts/processes/clock-ahead.ts',
} as const;

/** What CommonJS packages inside a bundle expect to find. */
const BANNER = `import { createRequire as requireFor } from 'node:module'; import { fileURLToPath as pathOf } from 'node:url';
const require = requireFor(import.meta.url); const __filename = pathOf(import.meta.url); const __dirname = pathOf(new URL('.', import.meta.url));`;

const SQLITE = '@photostructure/sqlite';
const WATCHED_SQLITE = join(root, 'scripts/crash/watched-sqlite.ts');
const WATCHED_POSTGRES = join(root, 'scripts/crash/watched-postgres.ts');

/** Commits are durable moments as well. */
const watchedSqlite: Plugin = {
  name: 'watched-sqlite',
  setup(bundling) {
    bundling.onResolve({ filter: /^@photostructure\/sqlite$/ }, ({ importer }) =>
      importer === WATCHED_SQLITE ? { path: SQLITE, external: true } : { path: WATCHED_SQLITE },
    );
  },
};

export interface Bundle {
  /** The path of a bundled file. */
  file(name: keyof typeof ENTRIES): string;
}

/** Made anew by every run that needs it, in a folder of its own: two runs may go on side by side. `watched` tells of commits. */
export async function bundleProcesses({ watched = false }: { readonly watched?: boolean } = {}): Promise<Bundle> {
  const folder = join(root, 'node_modules/.cache/basa-processes', `${process.pid}${watched ? '-watched' : ''}`);
  mkdirSync(folder, { recursive: true });
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await build({
    entryPoints: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, join(root, path)])),
    outdir: folder,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@basa/source'],
    // Native binaries and wasm are found beside their packages.
    external: [SQLITE, 'mcl-wasm', 'pg-native'],
    plugins: watched ? [watchedSqlite] : [],
    inject: watched ? [WATCHED_POSTGRES] : [],
    banner: { js: BANNER },
    logLevel: 'error',
  });
  return { file: (name) => join(folder, `${name}.js`) };
}
