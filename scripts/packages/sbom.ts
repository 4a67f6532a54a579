/** The bill of materials of a release, in CycloneDX: the packages that are published with the hashes of their tarballs, and what they install. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ROOT } from '@basa/testkit/root.ts';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

export interface Bom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** As npm reads it from the lockfile, with all of the repository. With `--omit dev` npm 11 leaves out `pg`, which a tool depends on as well. */
export function bomOfLock(): Bom {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--loglevel=error'];
  return JSON.parse(execFileSync('npm', words, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 })) as Bom;
}

/** A package that is published: its tarball, and what it installs. */
export interface Published {
  readonly file: string;
  readonly manifest: { readonly dependencies?: Readonly<Record<string, string>> };
}

/** `packages`: by their names. */
export function publishedBom(bom: Bom, packages: ReadonlyMap<string, Published>): Bom {
  const next = new Map(bom.dependencies.map((one) => [one.ref, installedBy(one, packages)]));
  const published = bom.components.map((one) => one['bom-ref']).filter((ref) => packages.has(nameOf(ref)));
  const reached = new Set<string>();
  const waiting = [...published];
  for (let ref = waiting.pop(); ref !== undefined; ref = waiting.pop()) {
    if (reached.has(ref)) continue;
    reached.add(ref);
    waiting.push(...(next.get(ref) ?? []));
  }
  const root = bom.metadata.component['bom-ref'];
  return {
    ...bom,
    metadata: { ...bom.metadata, component: { ...bom.metadata.component, name: 'basa' } },
    components: bom.components.filter((one) => reached.has(one['bom-ref'])).map((one) => withHash(one, packages)),
    dependencies: [
      { ref: root, dependsOn: published },
      ...[...reached].map((ref) => ({ ref, dependsOn: next.get(ref) ?? [] })),
    ],
  };
}

const nameOf = (ref: string): string => ref.slice(0, ref.lastIndexOf('@'));

/** Of ours npm also lists what only tests need. */
function installedBy({ ref, dependsOn }: Bom['dependencies'][number], packages: ReadonlyMap<string, Published>) {
  const own = packages.get(nameOf(ref));
  return own === undefined
    ? dependsOn
    : dependsOn.filter((other) => nameOf(other) in (own.manifest.dependencies ?? {}));
}

/** Ours have the name under which npm installs them, which npm's own list leaves out. */
function withHash(component: Component, packages: ReadonlyMap<string, Published>): Component {
  const name = nameOf(component['bom-ref']);
  const own = packages.get(name);
  if (own === undefined) return component;
  return { ...component, name, hashes: [{ alg: 'SHA-256', content: sha256Of(own.file) }] };
}

export function sha256Of(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
