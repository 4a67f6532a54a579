/** The package.json of a package as it is published: without the parts that are only for this repository, and with its origin. */

/** A value of an exports map: a path, or paths by condition. */
type ExportTarget = string | { readonly [condition: string]: ExportTarget };

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly files: readonly string[];
  readonly exports: Readonly<Record<string, ExportTarget>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

/** The condition that tests and scripts of this repository resolve sources with. */
const SOURCE_CONDITION = '@basa/source';

/** `repository` is the address of this repository, if it has one; `folder` is the package's below its root. */
export function publishedManifest(manifest: Manifest, folder: string, repository: string | undefined): Manifest {
  const { devDependencies: _, exports: entries, ...rest } = manifest;
  const shipped = Object.fromEntries(
    Object.entries(entries)
      .map(([entry, target]) => [entry, withoutSource(target)] as const)
      .filter(([, target]) => Object.keys(target).length > 0), // entries with only a source are for this repository
  );
  return { ...rest, exports: shipped, ...(repository !== undefined && placesOf(repository, folder)) };
}

function withoutSource(target: ExportTarget): ExportTarget {
  if (typeof target === 'string') return target;
  const { [SOURCE_CONDITION]: _, ...rest } = target;
  return rest;
}

function placesOf(repository: string, folder: string): object {
  const page = webAddress(repository);
  return {
    repository: { type: 'git', url: `git+${page}.git`, directory: folder },
    homepage: `${page}/tree/main/${folder}#readme`,
    bugs: `${page}/issues`,
  };
}

/** `git@host:owner/name.git`, `https://token@host/owner/name.git` and the like as an address that a browser opens. */
export function webAddress(repository: string): string {
  const [, host, path] =
    /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^:/]+)(?::\d+)?[:/](.+?)(?:\.git)?\/?$/.exec(repository) ?? [];
  if (host === undefined || path === undefined) throw new RangeError(`${repository} is not an address of a repository`);
  return `https://${host}/${path}`;
}
