/** Checks the packages of a workspace against the picture of the house, and reports each deviation in a sentence. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { HOUSE, type Room } from './house.ts';
import { cycles, packageOf, readSources, type Source } from './sources.ts';

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, { readonly '@basa/source'?: string }>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Every breach of the rules below `root`/packages, as `place: what is wrong`. */
export function findBreaches(root: string): readonly string[] {
  const packages = readdirSync(join(root, 'packages')).sort();
  return packages.flatMap((name) => {
    const room = HOUSE[name];
    if (room === undefined) return [`packages/${name}: not in the picture of the house`];
    const folder = join(root, 'packages', name);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
    const sources = readSources(join(folder, 'src'));
    return [
      ...manifestBreaches(name, manifest, sources),
      ...sources.flatMap((source) => importBreaches(root, name, manifest, source)),
      ...folderBreaches(root, folder, room.folders, manifest, sources),
      ...partyBreaches(root, join(folder, 'src'), room.parties, sources),
      ...cycles(sources).map(
        (cycle) => `packages/${name}: import cycle ${cycle.map((p) => relative(folder, p)).join(' -> ')}`,
      ),
      ...(room.pure ? pureBreaches(name, folder) : []),
    ];
  });
}

function manifestBreaches(name: string, manifest: Manifest, sources: readonly Source[]): readonly string[] {
  const declared = Object.keys(manifest.dependencies ?? {});
  const imported = new Set(sources.flatMap(({ imports }) => imports.map(packageOf)));
  const place = `packages/${name}/package.json`;
  return [
    ...(manifest.name === `@basa/${name}` ? [] : [`${place}: name is ${manifest.name}, not @basa/${name}`]),
    ...declared
      .filter((dependency) => dependency.startsWith('@basa/') && !mayImport(name, dependency))
      .map((dependency) => `${place}: ${name} may not depend on ${dependency}`),
    ...declared
      .filter((dependency) => !imported.has(dependency))
      .map((dependency) => `${place}: ${dependency} is declared but never imported`),
  ];
}

function mayImport(name: string, dependency: string): boolean {
  return HOUSE[name]?.mayImport.some((allowed) => dependency === `@basa/${allowed}`) ?? false;
}

function importBreaches(root: string, name: string, manifest: Manifest, { path, imports }: Source): readonly string[] {
  const place = relative(root, path);
  const source = join(root, 'packages', name, 'src');
  const declared = { ...manifest.dependencies, ...manifest.peerDependencies };
  return imports.flatMap((specifier) => {
    if (specifier.startsWith('.')) {
      const target = resolve(dirname(path), specifier);
      if (!target.startsWith(`${source}/`)) return [`${place}: ${specifier} leaves the package`];
      // A folder's index is the front of an entry point of its own; the package's own front is never a way inside.
      return /(^|\/)index\.ts$/.test(specifier) ? [`${place}: imports its own index (${specifier})`] : [];
    }
    if (packageOf(specifier) === `@basa/${name}`) return [`${place}: imports its own package (${specifier})`];
    if (specifier.startsWith('node:')) {
      return /\/src\/web\//.test(path) ? [`${place}: browser code imports ${specifier}`] : [];
    }
    return declared[packageOf(specifier)] === undefined
      ? [`${place}: ${specifier} is not declared in package.json`]
      : [];
  });
}

/** A file of a drawn package lies in a drawn folder, and imports only from there and from the folders drawn below it. Entry points lie beside them. */
function folderBreaches(
  root: string,
  home: string,
  folders: Room['folders'],
  { exports = {} }: Manifest,
  sources: readonly Source[],
): readonly string[] {
  if (folders === undefined) return [];
  const source = join(home, 'src');
  const named = Object.values(exports).map((entry) => join(home, entry['@basa/source'] ?? ''));
  const entries = new Set([join(source, 'index.ts'), join(source, 'main.ts'), ...named]);
  const folderOf = (path: string): string => relative(source, path).split('/')[0] ?? '';
  return sources
    .filter(({ path }) => !entries.has(path))
    .flatMap(({ path, imports }) => {
      const place = relative(root, path);
      const own = folderOf(path);
      const allowed = folders[own];
      if (allowed === undefined) return [`${place}: lies in no folder of the picture`];
      return imports
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => folderOf(resolve(dirname(path), specifier)))
        .filter((folder) => folder !== own && !allowed.includes(folder))
        .map((folder) => `${place}: ${own}/ may not import ${folder}/`);
    });
}

/** A file of one party imports no file of another. */
function partyBreaches(
  root: string,
  source: string,
  parties: Room['parties'] = [],
  sources: readonly Source[],
): readonly string[] {
  const partyOf = (path: string): number => parties.findIndex((files) => files.includes(relative(source, path)));
  return sources.flatMap(({ path, imports }) =>
    imports
      .filter((specifier) => specifier.startsWith('.') && partyOf(path) >= 0)
      .map((specifier) => resolve(dirname(path), specifier))
      .filter((target) => partyOf(target) >= 0 && partyOf(target) !== partyOf(path))
      .map((target) => `${relative(root, path)}: a party may not import another (${relative(source, target)})`),
  );
}

/** A pure package inherits `lib: ES2022, types: []` and overrides neither. */
function pureBreaches(name: string, folder: string): readonly string[] {
  const path = join(folder, 'tsconfig.json');
  const place = `packages/${name}/tsconfig.json`;
  if (!existsSync(path)) return [`${place}: missing`];
  const { extends: base, compilerOptions = {} } = JSON.parse(readFileSync(path, 'utf8')) as {
    extends?: string;
    compilerOptions?: Record<string, unknown>;
  };
  return [
    ...(base === '../../tsconfig.base.json' ? [] : [`${place}: does not extend the base configuration`]),
    ...['lib', 'types', 'typeRoots']
      .filter((key) => key in compilerOptions)
      .map((key) => `${place}: a pure package sets ${key}`),
  ];
}
