// What Node asks for each module: TypeScript without its types. What was made is kept beside the installed packages, one file
// for a source, and made anew when that has changed. A user who may not write there goes on without.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { keepWhole } from './keep-whole.mjs';

const cache = new URL('../node_modules/.cache/basa-typescript/', import.meta.url);
tried(() => mkdirSync(cache, { recursive: true }));

export async function load(url, context, nextLoad) {
  const { pathname } = new URL(url);
  if (!/\.m?ts$/.test(pathname)) return nextLoad(url, context);
  return { format: 'module', source: await javascriptOf(fileURLToPath(url)), shortCircuit: true };
}

async function javascriptOf(path) {
  const text = readFileSync(path, 'utf8');
  const kept = new URL(`${digest(path)}.js`, cache);
  const stamp = `// ${process.versions.modules} ${digest(text)}\n`;
  const before = readIfThere(kept);
  if (before?.startsWith(stamp)) return before;
  const { transform } = await import('esbuild');
  const { code } = await transform(text, {
    loader: 'ts',
    format: 'esm',
    target: 'node20',
    sourcefile: path,
    sourcemap: 'inline',
    sourcesContent: false,
    banner: stamp.trimEnd(),
  });
  tried(() => keepWhole(kept, code)); // several processes and threads may do this at once
  return code;
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
