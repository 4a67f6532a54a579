// Node's questions about each module: TypeScript without its types. The result is kept beside the installed packages, one file
// for a source, and made anew when that has changed. A user who may not write there goes on without. TypeBox has 683 modules,
// three quarters of all that a service loads: they are kept as a few files.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { keepWhole } from './keep-whole.mjs';

const cache = new URL('../node_modules/.cache/basa-typescript/', import.meta.url);
tried(() => mkdirSync(cache, { recursive: true }));

/** In a thread of its own. */
export async function load(url, context, nextLoad) {
  const asked = askedFor(url);
  if (asked === undefined) return typeBoxAt(url) ?? nextLoad(url, context);
  const code = asked.before ?? kept(asked, await (await import('esbuild')).transform(asked.text, asked.options));
  return { format: 'module', source: code, shortCircuit: true };
}

/** In the thread that asks. */
export function loadNow(url, context, nextLoad) {
  const asked = askedFor(url);
  if (asked === undefined) return typeBoxAt(url) ?? nextLoad(url, context);
  const code = asked.before ?? kept(asked, requireHere('esbuild').transformSync(asked.text, asked.options));
  return { format: 'module', source: code, shortCircuit: true };
}

const requireHere = createRequire(import.meta.url);

/** Undefined for what is no TypeScript; `before` is what was made of it earlier. */
function askedFor(url) {
  if (!/\.m?ts$/.test(url.split('?')[0])) return undefined;
  const path = fileURLToPath(url);
  const text = readFileSync(path, 'utf8');
  const file = new URL(`${digest(path)}.js`, cache);
  const stamp = `// ${process.versions.modules} ${digest(text)}\n`;
  const found = readIfThere(file);
  const options = {
    loader: 'ts',
    format: 'esm',
    target: 'node20',
    sourcefile: path,
    sourcemap: 'inline',
    sourcesContent: false,
    banner: stamp.trimEnd(),
  };
  return { text, file, options, before: found?.startsWith(stamp) ? found : undefined };
}

function kept({ file }, { code }) {
  tried(() => keepWhole(file, code)); // several processes and threads may do this at once
  return code;
}

/** Undefined for what is no entry of TypeBox. Nothing else of it may be imported: there would be two of it. */
function typeBoxAt(url) {
  const [, folder, name] = /^(.*\/node_modules\/typebox\/build\/)((?:compile\/|value\/)?index\.mjs)$/.exec(url) ?? [];
  if (folder === undefined) return undefined;
  return tried(() => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', folder), 'utf8'));
    const place = new URL(`../basa-packages/typebox-${version}/`, cache);
    const file = new URL(name, place);
    if (!existsSync(file)) bundleTypeBox(folder, place);
    return { format: 'module', source: `export * from '${file.href}';`, shortCircuit: true };
  });
}

function bundleTypeBox(folder, place) {
  const { outputFiles } = requireHere('esbuild').buildSync({
    entryPoints: ['', 'compile/', 'value/'].map((part) => fileURLToPath(new URL(`${part}index.mjs`, folder))),
    outbase: fileURLToPath(folder),
    outdir: fileURLToPath(place),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    write: false,
    platform: 'node',
    format: 'esm',
  });
  for (const part of ['compile', 'value']) mkdirSync(new URL(part, place), { recursive: true });
  // Entries are the first: if one is there, the files that it imports are there.
  for (const { path, text } of outputFiles.reverse()) keepWhole(pathToFileURL(path), text);
}

function readIfThere(file) {
  return tried(() => readFileSync(file, 'utf8'));
}

/** The cache only saves time: undefined if it cannot be read or written. */
function tried(work) {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function digest(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
