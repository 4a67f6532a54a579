/** docs/paper-map.md with every name of the code linked to the file and line where it is declared. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = join(root, 'docs/paper-map.md');

/** Where a name is looked up, the first one first: some names stand in two packages. */
const PACKAGES = [
  'abe',
  'protocol',
  'masking',
  'learning',
  'baselines',
  'simulator',
  'datasets',
  'experiments',
  'server',
];
const DECLARATION = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/;
/** A name in code marks, with the link it has or none. */
const NAME = /\[`([\w./-]+)`\]\([^)]*\)|`([\w./-]+)`/g;

/** The text as it should be. A name that is neither declared nor a file stays as it is; `unlinkedNames` finds those. */
export function linkedPaperMap(): string {
  const places = declarations();
  return readFileSync(page, 'utf8').replace(NAME, (_, linked: string | undefined, bare: string | undefined) => {
    const name = linked ?? bare ?? '';
    const place = places.get(name.endsWith('.ts') ? name : (name.split('.')[0] ?? ''));
    return place === undefined ? `\`${name}\`` : `[\`${name}\`](../${place})`;
  });
}

/** Names in code marks without a link, but for whole paths, which are checked as files, and for commands. */
export function unlinkedNames(): readonly string[] {
  const text = linkedPaperMap().replaceAll(/\[`[^`]*`\]\([^)]*\)/g, '');
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

/** Paths from the root, with the line, by declared name; for files by their path inside `src` or their name alone. */
function declarations(): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  for (const room of PACKAGES) {
    const source = `packages/${room}/src`;
    const files = readdirSync(join(root, source), { recursive: true, encoding: 'utf8' }).sort();
    for (const file of files.filter((path) => path.endsWith('.ts'))) {
      const path = `${source}/${file}`;
      for (const name of [file, basename(file)]) if (!places.has(name)) places.set(name, path);
      for (const [i, line] of readFileSync(join(root, path), 'utf8').split('\n').entries()) {
        const declared = DECLARATION.exec(line)?.[1];
        if (declared !== undefined && !places.has(declared)) places.set(declared, `${path}#L${i + 1}`);
      }
    }
  }
  return places;
}
