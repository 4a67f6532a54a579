/** The imports of the sources of a folder, and their cycles. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseSync } from 'oxc-parser';

export interface Source {
  readonly path: string;
  readonly imports: readonly string[];
}

/** Every TypeScript file below a folder, built and installed ones left out. */
export function readSources(folder: string): readonly Source[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !/(^|\/)(node_modules|dist)\//.test(file),
  );
  return files.sort().map((file) => {
    const path = join(folder, file);
    return { path, imports: readImports(path) };
  });
}

/** Static imports, re-exports and dynamic imports of literals; types count as well. */
function readImports(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8');
  const { module, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  return [
    ...module.staticImports.map((statement) => statement.moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) => entries.flatMap((entry) => entry.moduleRequest?.value ?? [])),
    ...module.dynamicImports
      .map(({ moduleRequest }) => text.slice(moduleRequest.start, moduleRequest.end))
      .filter((specifier) => /^['"`]/.test(specifier)) // a computed specifier is a user's file
      .map((specifier) => specifier.slice(1, -1)),
  ];
}

export function packageOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}

/** Each cycle of relative imports once, by depth-first search. */
export function cycles(sources: readonly Source[]): readonly (readonly string[])[] {
  const edges = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter((specifier) => specifier.startsWith('.')).map((specifier) => resolve(dirname(path), specifier)),
    ]),
  );
  const found: string[][] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) found.push([...trail.slice(start), path]);
    if (start >= 0 || done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const { path } of sources) visit(path, []);
  return found;
}
