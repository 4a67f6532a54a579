/** The obstacles to a release: versions that differ, and a changelog without an entry. */

export interface VersionedManifest {
  readonly name: string;
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Sentences; none if `version` may be released. `tag` is the tag that asks for it, if there is one. */
export function releaseProblems(
  version: string,
  manifests: readonly VersionedManifest[],
  changelog: string,
  tag?: string,
): readonly string[] {
  const ours = new Set(manifests.map(({ name }) => name));
  const versions = manifests.flatMap(({ name, version: own, dependencies = {}, devDependencies = {} }) => [
    ...(own === version ? [] : [`${name} has version ${own}, not ${version}`]),
    ...Object.entries({ ...dependencies, ...devDependencies })
      .filter(([other, asked]) => ours.has(other) && asked !== version)
      .map(([other, asked]) => `${name} asks for ${other} ${asked}, not ${version}`),
  ]);
  const isInChangelog = changelog
    .split('\n')
    .some((line) => /^## (\S+) \(\d{4}-\d{2}-\d{2}\)$/.exec(line)?.[1] === version);
  return [
    ...versions,
    ...(isInChangelog ? [] : [`CHANGELOG.md has no entry "## ${version} (<year>-<month>-<day>)"`]),
    ...(tag === undefined || tag === `v${version}` ? [] : [`the tag is ${tag}, not v${version}`]),
  ];
}
