/** Where a new project stands: how it finds our packages from a clone, or from wherever this command was installed. */
import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProjectFiles, ProjectPlace } from './template.ts';

const isSource = import.meta.url.endsWith('.ts');
const packageFolder = fileURLToPath(new URL('../..', import.meta.url));
/** The folder with the node_modules that this command is in: of the clone, or of whoever installed it. */
const installedIn = resolve(packageFolder, isSource ? '../..' : '../../..');

export async function placeOf(folder: string): Promise<ProjectPlace> {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]/g, '-');
  const packages = await packagesFor(folder);
  if (!isSource) return { name, packages, run: 'tsx', basa: 'basa' };
  const seen = (path: string): string => `./${relative(folder, join(installedIn, path))}`;
  const run = `node --import ${seen('scripts/typescript.mjs')} --conditions=@basa/source`;
  return { name, packages, run, basa: `${run} ${seen('packages/cli/src/main.ts')}` };
}

/** What a project imports, by version. Where our packages were installed from files, the project takes them from the same files. */
async function packagesFor(folder: string): Promise<Readonly<Record<string, string>>> {
  const manifest = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
  const used = ['cli', 'client', 'datasets', 'learning', 'runtime'].map(
    (one) => [`@basa/${one}`, manifest.version] as const,
  );
  return { ...Object.fromEntries(used), ...(await packagesFromFiles(folder)) };
}

async function packagesFromFiles(folder: string): Promise<Readonly<Record<string, string>>> {
  const account = join(installedIn, 'node_modules/.package-lock.json');
  if (isSource || !existsSync(account)) return {};
  return fileSources(JSON.parse(await readFile(account, 'utf8')) as InstalledPackages, installedIn, folder);
}

/** npm's own account of what it installed. */
interface InstalledPackages {
  readonly packages: Readonly<Record<string, { readonly resolved?: string }>>;
}

/** Our packages that came from files of `root`, as a package.json in `folder` names them. */
export function fileSources({ packages }: InstalledPackages, root: string, folder: string): Record<string, string> {
  const found = Object.entries(packages).flatMap(([path, { resolved = '' }]) => {
    if (!path.startsWith('node_modules/@basa/') || !resolved.startsWith('file:')) return [];
    return [[path.slice('node_modules/'.length), `file:${relative(folder, resolve(root, resolved.slice(5)))}`]];
  });
  return Object.fromEntries(found);
}

/** Typed in the project, it installs what is missing. Beside a clone that is the clone's part: our packages come from its folders. */
export function installCommand(folder: string): string {
  return isSource ? `npm --prefix ${relative(folder, installedIn)} run setup` : 'npm install';
}

/** Returns whether all that its package.json names is installed. A project beside a clone gets what the clone has installed. */
export async function findPackages(folder: string, files: ProjectFiles): Promise<boolean> {
  const parts = JSON.parse(files['package.json'] ?? '{}') as Record<string, Record<string, string>>;
  const names = Object.keys({ ...parts['dependencies'], ...parts['devDependencies'] });
  const isThere = (): boolean => {
    const above = createRequire(join(folder, 'model.ts')).resolve.paths('x') ?? [];
    return names.every((name) => above.some((modules) => existsSync(join(modules, name))));
  };
  if (isSource && !isThere()) await symlink(join(installedIn, 'node_modules'), join(folder, 'node_modules'));
  return isThere();
}
