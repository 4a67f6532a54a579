// What Node asks for each module: TypeScript without its types. What was made is kept beside the installed packages, one file
// for a source, and made anew when that has changed.
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const cache = new URL('../node_modules/.cache/basa-typescript/', import.meta.url);
mkdirSync(cache, { recursive: true });

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
  // Several processes and threads may do this at once: each writes its own file, and the last one's stays.
  const own = new URL(`${kept.href}.${randomUUID()}`);
  writeFileSync(own, code);
  renameSync(own, kept);
  return code;
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function digest(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
