/** Holds what stands beside the house (tools, tests, scripts, examples) apart: they share through @basa/testkit alone. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { cycles, packageOf, readSources, type Source } from './sources.ts';

/** Run by people and tests; nobody imports them. */
const IMPORTED_BY_NOBODY = ['@basa/trials', '@basa/verification'];

/** Every breach of the rules among packages, tools, tests, scripts and examples, as `place: what is wrong`. */
export function findWorkshopBreaches(root: string): readonly string[] {
  const folders = ['packages', 'tools', 'test', 'scripts', 'examples'].filter((name) => existsSync(join(root, name)));
  const sources = folders.flatMap((name) => readSources(join(root, name)));
  return [
    ...toolsOf(root).flatMap((name) => manifestBreaches(root, name)),
    ...sources.flatMap((source) => importBreaches(root, source)),
    ...cycles(sources.filter(({ path }) => !roomOf(root, path).startsWith('packages/'))).map(
      (cycle) => `import cycle ${cycle.map((path) => relative(root, path)).join(' -> ')}`,
    ),
  ];
}

function toolsOf(root: string): readonly string[] {
  return existsSync(join(root, 'tools')) ? readdirSync(join(root, 'tools')).sort() : [];
}

function manifestBreaches(root: string, name: string): readonly string[] {
  const place = `tools/${name}/package.json`;
  const manifest = JSON.parse(readFileSync(join(root, place), 'utf8')) as { name: string; private?: boolean };
  return [
    ...(manifest.name === `@basa/${name}` ? [] : [`${place}: name is ${manifest.name}, not @basa/${name}`]),
    ...(manifest.private === true ? [] : [`${place}: a tool is private`]),
  ];
}

/** A package or a tool is a room; so is each of the other folders as a whole. */
function roomOf(root: string, path: string): string {
  const [folder = '', name = ''] = relative(root, path).split('/');
  return ['packages', 'tools'].includes(folder) ? `${folder}/${name}` : folder;
}

/** Tools, tests and scripts may look inside packages; nobody looks inside them. */
function importBreaches(root: string, { path, imports }: Source): readonly string[] {
  const place = relative(root, path);
  const room = roomOf(root, path);
  return imports.flatMap((specifier) => {
    if (IMPORTED_BY_NOBODY.includes(packageOf(specifier))) return [`${place}: nobody imports ${specifier}`];
    if (!specifier.startsWith('.')) return [];
    const other = roomOf(root, resolve(dirname(path), specifier));
    if (other === room) return [];
    if (room === 'examples') return [`${place}: ${specifier} leaves the examples`];
    return other.startsWith('packages/') ? [] : [`${place}: ${specifier} reaches into ${other}; share it in test/kit`];
  });
}
