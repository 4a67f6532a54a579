/** Finds our packages for a new project: in a clone, or in the installation of this command. */
import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quoted } from '../shell/invocation.ts';
import type { ProjectFiles, ProjectPlace } from './template.ts';

const isSource = import.meta.url.endsWith('.ts');
const packageFolder = fileURLToPath(new URL('../..', import.meta.url));
/** The folder whose node_modules this command runs from: the clone, or the project that installed it. */
const installedIn = resolve(packageFolder, isSource ? '../..' : '../../..');

/** The packages that the files of a project import. */
const USED = ['cli', 'client', 'datasets', 'learning', 'runtime'] as const;

export async function placeOf(folder: string): Promise<ProjectPlace> {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]/g, '-');
  const packages = await packagesFor(folder);
  if (!isSource) return { name, packages, run: 'tsx', basa: 'basa' };
  const seen = (path: string): string => quoted(`./${relative(folder, join(installedIn, path))}`);
  const run = `node --import ${seen('scripts/typescript.mjs')} --conditions=@basa/source`;
  return { name, packages, run, basa: `${run} ${seen('packages/cli/src/main.ts')}` };
}

/** npm links a folder outside the project and installs nothing for it, so its own dependencies stay in place. */
function linked(folder: string, foldersOfPackages: string): Record<string, string> {
  return Object.fromEntries(
    USED.map((one) => [`@basa/${one}`, `file:${relative(folder, join(foldersOfPackages, one))}`]),
  );
}

async function packagesFor(folder: string): Promise<Readonly<Record<string, string>>> {
  if (isSource) return linked(folder, join(installedIn, 'packages'));
  const account = join(installedIn, 'node_modules/.package-lock.json');
  const known = existsSync(account) ? (JSON.parse(await readFile(account, 'utf8')) as InstalledPackages) : undefined;
  return sourcesOf(known, installedIn, folder) ?? linked(folder, join(installedIn, 'node_modules/@basa'));
}

/** npm's list of installed packages. */
interface InstalledPackages {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly resolved?: string }>>;
}

/**
 * Our packages for a package.json in `folder`: by version if they came from a registry, otherwise by the files that
 * they came from. Undefined if npm kept no record, or if a file is gone.
 */
export function sourcesOf(
  known: InstalledPackages | undefined,
  root: string,
  folder: string,
  isThere: (path: string) => boolean = existsSync,
): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(known?.packages ?? {}).filter(([path]) => path.startsWith('node_modules/@basa/'));
  const found = entries.map(([path, { version, resolved = '' }]) => {
    const name = path.slice('node_modules/'.length);
    if (!resolved.startsWith('file:')) return [name, version];
    const file = resolve(root, resolved.slice('file:'.length));
    return [name, isThere(file) ? `file:${relative(folder, file)}` : undefined];
  });
  if (found.length === 0 || found.some(([, source]) => source === undefined)) return undefined;
  return Object.fromEntries(found) as Record<string, string>;
}

/**
 * Returns true if everything in its package.json is already installed. A project next to a clone with the development tools gets a link to
 * the clone's packages.
 */
export async function findPackages(folder: string, files: ProjectFiles): Promise<boolean> {
  const parts = JSON.parse(files['package.json'] ?? '{}') as Record<string, Record<string, string>>;
  const names = Object.keys({ ...parts['dependencies'], ...parts['devDependencies'] });
  const hasAll = (places: readonly string[]): boolean =>
    names.every((name) => places.some((modules) => existsSync(join(modules, name))));
  if (hasAll(createRequire(join(folder, 'model.ts')).resolve.paths('x') ?? [])) return true;
  const modules = join(installedIn, 'node_modules');
  if (!isSource || !hasAll([modules])) return false;
  await symlink(modules, join(folder, 'node_modules'));
  return true;
}
