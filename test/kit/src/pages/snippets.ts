/** The programs on our pages: finds them, and runs them exactly as written. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FROM_SOURCE, ROOT } from '../root.ts';

export interface Snippet {
  readonly language: string;
  /** Words after the language: `services` needs both services, `web` a browser. */
  readonly needs: readonly string[];
  readonly code: string;
  /** Of its first line of code, from 1. */
  readonly line: number;
}

/** Returns every fenced block of a page in this language. */
export function snippetsOf(markdown: string, language = 'ts'): readonly Snippet[] {
  return [...markdown.matchAll(/^```(\w+)((?: \w+)*)\n(.*?)^```$/gms)]
    .map(({ 1: name = '', 2: words = '', 3: code = '', index }) => ({
      language: name,
      needs: words.split(' ').slice(1),
      code,
      line: markdown.slice(0, index).split('\n').length + 1,
    }))
    .filter((snippet) => snippet.language === language);
}

/** Pages that are written by `npm run write` and `npm run site`, and not committed. */
export const GENERATED = /^docs\/(?:api|openapi|reference|sizes\.md)(?:\/|$)/;

/** Every page that people write, as paths from the root: those at the root, in docs and beside each package or client. */
export function pagePaths(): readonly string[] {
  const readmes = readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/README.md`);
  const pages = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`);
  return [...readdirSync(ROOT), ...pages, ...readmes, 'clients/python/README.md']
    .filter((path) => path.endsWith('.md') && !GENERATED.test(path))
    .sort();
}

export const readPage = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

export interface RunOptions {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Returns the output of the first program of a page. `page` is a path from the root; it runs in `cwd` with these
 * additional variables.
 */
export function runSnippet(page: string, options: RunOptions = {}): Promise<string> {
  const [first] = snippetsOf(readPage(page));
  if (first === undefined) throw new Error(`${page} shows no program`);
  return runProgram(first.code, options);
}

/** Returns the output of a program that imports our packages by name. */
export async function runProgram(code: string, { cwd = ROOT, environment = {} }: RunOptions = {}): Promise<string> {
  const folder = folderOfPrograms();
  try {
    writeFileSync(join(folder, 'snippet.mts'), code);
    const run = [...FROM_SOURCE, join(folder, 'snippet.mts')];
    const env = { ...process.env, ...environment };
    const { stdout } = await promisify(execFile)(process.execPath, run, { cwd, env });
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A new folder below the ROOT, so that programs in it find the packages. */
export function folderOfPrograms(): string {
  const cache = join(ROOT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  return mkdtempSync(join(cache, 'basa-snippets-'));
}
