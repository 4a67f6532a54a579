/** Holds what stands beside the house (laboratory, conformance, tests, scripts, examples) apart: no path leads from one into another. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { cycles, readSources, type Source } from './sources.ts';

/** Private packages beside the published ones, by folder. */
const WORKSHOPS: Readonly<Record<string, string>> = {
  conformance: '@basa/conformance',
  lab: '@basa/lab',
  'test/kit': '@basa/testkit',
};

/** Every breach of the rules among packages, laboratory, tests, scripts and examples, as `place: what is wrong`. */
export function findWorkshopBreaches(root: string): readonly string[] {
  const folders = ['packages', 'conformance', 'lab', 'test', 'scripts', 'examples'];
  const sources = folders
    .filter((name) => existsSync(join(root, name)))
    .flatMap((name) => readSources(join(root, name)));
  return [
    ...Object.entries(WORKSHOPS).flatMap(([folder, name]) => manifestBreaches(root, folder, name)),
    ...sources.flatMap((source) => importBreaches(root, source)),
    ...cycles(sources.filter(({ path }) => !roomOf(root, path).startsWith('packages/'))).map(
      (cycle) => `import cycle ${cycle.map((path) => relative(root, path)).join(' -> ')}`,
    ),
  ];
}

function manifestBreaches(root: string, folder: string, name: string): readonly string[] {
  const place = `${folder}/package.json`;
  if (!existsSync(join(root, place))) return [];
  const manifest = JSON.parse(readFileSync(join(root, place), 'utf8')) as { name: string; private?: boolean };
  return [
    ...(manifest.name === name ? [] : [`${place}: name is ${manifest.name}, not ${name}`]),
    ...(manifest.private === true ? [] : [`${place}: what stands beside the house is private`]),
  ];
}

/** A package is a room, and so are its tests with it; so is each folder beside them, and the kit of tests. */
function roomOf(root: string, path: string): string {
  const [folder = '', name = ''] = relative(root, path).split('/');
  return folder === 'packages' || `${folder}/${name}` === 'test/kit' ? `${folder}/${name}` : folder;
}

/** One room is reached from another by the name of its package, never by a path. */
function importBreaches(root: string, { path, imports }: Source): readonly string[] {
  const place = relative(root, path);
  const room = roomOf(root, path);
  return imports.flatMap((specifier) => {
    if (!specifier.startsWith('.')) return [];
    const other = roomOf(root, resolve(dirname(path), specifier));
    return other === room ? [] : [`${place}: ${specifier} reaches into ${other} by a path`];
  });
}
