/** Runs the first TypeScript snippet of a README as it is written. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What the snippet prints. `readme` is a path from the root; it runs in `cwd` with these variables besides. */
export async function runSnippet(
  readme: string,
  { cwd = root, environment = {} }: { cwd?: string; environment?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  const [, snippet = ''] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, readme), 'utf8')) ?? [];
  const cache = join(root, 'node_modules/.cache'); // below the root, so that the packages are found
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'basa-readme-'));
  try {
    writeFileSync(join(folder, 'snippet.mts'), snippet);
    const loader = createRequire(import.meta.url).resolve('tsx');
    const run = ['--import', pathToFileURL(loader).href, '--conditions=@basa/source', join(folder, 'snippet.mts')];
    const env = { ...process.env, ...environment };
    const { stdout } = await promisify(execFile)(process.execPath, run, { cwd, env });
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
