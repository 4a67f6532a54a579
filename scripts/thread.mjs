// The module of a thread, made of TypeScript ahead of time: with a loader of its own and hundreds of modules, each thread took
// a second of processor time to start. The files are kept beside the installed packages, and made anew when a source changes.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { keepWhole } from './keep-whole.mjs';

const root = new URL('../', import.meta.url);
const cache = new URL('node_modules/.cache/basa-threads/', root);

/** Runs the module at this address in the thread that calls, and returns its exports. */
export async function runThread(url) {
  const note = new URL(`${createHash('sha256').update(url).digest('hex').slice(0, 32)}.json`, cache);
  const made = madeBefore(note) ?? (await makeNow(url, note));
  if (made === undefined)
    await import('./typescript.mjs'); // a user who may not write there reads the sources one by one
  else process.setSourceMapsEnabled(true); // errors name lines of the TypeScript
  return import(made ?? url);
}

/** The file that was made of the sources as they are now; the note names them. */
function madeBefore(note) {
  try {
    const { file, stamps } = JSON.parse(readFileSync(note, 'utf8'));
    const isNew = Object.entries(stamps).every(([path, stamp]) => stampOf(path) === stamp);
    return isNew ? file : undefined;
  } catch {
    return undefined;
  }
}

function stampOf(path) {
  const { mtimeMs, size } = statSync(new URL(path, root));
  return `${mtimeMs} ${size}`;
}

/** Undefined if nothing can be kept. */
async function makeNow(url, note) {
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(url)],
    outdir: fileURLToPath(cache),
    entryNames: '[name]-[hash]', // a file of another content is another file
    chunkNames: '[name]-[hash]',
    absWorkingDir: fileURLToPath(root),
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    conditions: ['@basa/source'],
    external: ['@photostructure/sqlite', 'esbuild', 'mcl-wasm', 'pg-native'], // they find binaries beside themselves
    sourcemap: 'inline',
    sourcesContent: false,
    banner: { js: REQUIRE },
    logLevel: 'error',
    plugins: [knowsItsPlace],
  });
  try {
    mkdirSync(cache, { recursive: true });
    for (const { path, text } of outputFiles) {
      const file = pathToFileURL(path);
      if (!existsSync(file)) keepWhole(file, text);
    }
    const own = Object.keys(metafile.inputs).filter((path) => !path.startsWith('node_modules/'));
    const stamps = Object.fromEntries(['package-lock.json', ...own].map((path) => [path, stampOf(path)]));
    const source = decodeURI(url.slice(root.href.length));
    // Modules that are imported later are entries, too.
    const [made = ''] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === source) ?? [];
    const file = new URL(made, root).href;
    keepWhole(note, JSON.stringify({ file, stamps }));
    return file;
  } catch {
    return undefined;
  }
}

/** The function that CommonJS packages inside a bundle expect. */
const REQUIRE = `import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);`;

/** Modules find files beside their source. */
const knowsItsPlace = {
  name: 'knows-its-place',
  setup(bundling) {
    bundling.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      return { loader: 'ts', contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)) };
    });
  },
};
