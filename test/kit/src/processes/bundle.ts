/** Both services, and further programs of a caller, as single files: a process that is killed often must start fast. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { ROOT } from '../root.ts';

/** The programs that are always bundled, by the name of the file they become. Both look for their workers beside themselves. */
const ENTRIES = {
  authority: join(ROOT, 'packages/authority/src/main.ts'),
  server: join(ROOT, 'packages/server/src/main.ts'),
  'work/mask-worker': join(ROOT, 'packages/authority/src/masks/work/mask-worker.ts'),
  'work/worker': join(ROOT, 'packages/server/src/closing/work/worker.ts'),
} as const;

/** The globals that CommonJS packages inside a bundle expect. */
const BANNER = `import { createRequire as requireFor } from 'node:module'; import { fileURLToPath as pathOf } from 'node:url';
const require = requireFor(import.meta.url); const __filename = pathOf(import.meta.url); const __dirname = pathOf(new URL('.', import.meta.url));`;

const SQLITE = '@photostructure/sqlite';

/** Modules between the services and their databases: they report commits, which are durable moments. */
interface Watchers {
  /** Paths: one takes the place of SQLite's module and is the only one to import it, the other runs first. */
  readonly sqlite: string;
  readonly postgres: string;
}

const watchedSqlite = (watcher: string): Plugin => ({
  name: 'watched-sqlite',
  setup(bundling) {
    bundling.onResolve({ filter: /^@photostructure\/sqlite$/ }, ({ importer }) =>
      importer === watcher ? { path: SQLITE, external: true } : { path: watcher },
    );
  },
});

export interface Bundle<Name extends string = never> {
  /** The path of a bundled file. */
  file(name: keyof typeof ENTRIES | Name): string;
}

export interface BundleOptions<Name extends string> {
  /** More programs, by the name of the file they become. */
  readonly more?: Readonly<Record<Name, string>>;
  readonly watchers?: Watchers;
  /** Changes what is read on the way into the bundle; the folder has this name. */
  readonly changed?: { readonly name: string; readonly plugin: Plugin };
}

/** Options of every bundle for Node. */
export const FOR_NODE = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  conditions: ['@basa/source'],
  // Native binaries and wasm are found beside their packages.
  external: [SQLITE, 'mcl-wasm', 'pg-native'],
  banner: { js: BANNER },
  minifyWhitespace: true, // half of a start is to read the program
  logLevel: 'error',
} satisfies BuildOptions;

const folders: string[] = [];
function removeFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

/** A new folder for every run that needs it, because two runs may work in parallel. */
export function bundleFolder(kind: string): string {
  const folder = join(ROOT, 'node_modules/.cache/basa-processes', `${process.pid}-${kind}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }'); // else Node reads a program once more to find out
  if (folders.push(folder) === 1) process.once('exit', removeFolders);
  return folder;
}

export async function bundleProcesses<Name extends string = never>({
  more,
  watchers,
  changed,
}: BundleOptions<Name> = {}): Promise<Bundle<Name>> {
  const folder = bundleFolder(changed?.name ?? (watchers ? 'watched' : 'services'));
  await build({
    ...FOR_NODE,
    entryPoints: { ...ENTRIES, ...more },
    outdir: folder,
    plugins: [
      ...(watchers === undefined ? [] : [watchedSqlite(watchers.sqlite)]),
      ...(changed ? [changed.plugin] : []),
    ],
    inject: watchers === undefined ? [] : [watchers.postgres],
  });
  return { file: (name) => join(folder, `${name}.js`) };
}

let services: Promise<Bundle> | undefined;

/** The services as they are, bundled once in a process. */
export function bundledServices(): Promise<Bundle> {
  services ??= bundleProcesses();
  return services;
}
