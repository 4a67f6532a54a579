/** Finds the packages of ours that come with one of them. */

export interface Package {
  readonly name: string;
  readonly manifest: { readonly dependencies?: unknown };
}

/** The package of this name, and all of ours that it needs, itself or through others; in the order of `all`. */
export function closureOf<Each extends Package>(name: string, all: readonly Each[]): readonly Each[] {
  const needed = new Set<string>();
  const add = (each: string): void => {
    const found = all.find((one) => one.name === each);
    if (found === undefined || needed.has(each)) return;
    needed.add(each);
    for (const other of Object.keys(found.manifest.dependencies ?? {})) add(other);
  };
  add(name);
  return all.filter((each) => needed.has(each.name));
}
