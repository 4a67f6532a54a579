/** Judges mutants in a separate process, which is killed if one of them never ends. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ROOT } from '@basa/testkit/root.ts';
import { build } from 'esbuild';
import { parseSync } from 'oxc-parser';
import type { JudgedMutant } from './harness.ts';
import { type Mutant, withSwitches } from './mutants.ts';

const HARNESS = fileURLToPath(new URL('harness.ts', import.meta.url));
const VITEST = fileURLToPath(new URL('suites.ts', import.meta.url));
/** No test takes this long to load, or to run without a change. */
const MAX_SILENCE_MS = 120_000;

/** The code with which Node ends if all that is left is a promise that never settles. */
const NEVER_SETTLED = 13;

/** A source by its path from the root, with its mutants; the first of them has this number. */
interface MutatedSource {
  readonly file: string;
  readonly mutants: readonly Mutant[];
  readonly first: number;
}

export interface MutationRun {
  readonly sources: readonly MutatedSource[];
  /** Paths of the tests from the root. */
  readonly tests: readonly string[];
  /** Numbers of those to judge. */
  readonly chosen: readonly number[];
  /** The tests that are run for each take this many seconds, without a change; 1,000 by default. */
  readonly seconds?: number;
  /** Processes at a time; one by default. */
  readonly workers?: number;
  readonly onJudged: (judged: JudgedMutant) => void;
  /** Reports the number of test files whose reach was measured. */
  readonly onCoverage: (done: number, of: number) => void;
}

export async function runMutants(run: MutationRun): Promise<void> {
  if (run.chosen.length === 0) return;
  const cache = join(ROOT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'basa-mutation-'));
  try {
    const bundle = join(folder, 'switched.mjs');
    await bundleSwitched(run, bundle);
    const coverage = join(folder, 'coverage.json');
    // Measures once, for all parallel processes, which code each test reaches.
    await judgeSome(run, bundle, coverage, []);
    const { workers = 1 } = run;
    const lanes = Array.from({ length: workers }, (_, lane) => run.chosen.filter((_number, n) => n % workers === lane));
    await Promise.all(lanes.map((lane) => judgeAll(run, bundle, coverage, lane)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function judgeAll(run: MutationRun, bundle: string, coverage: string, lane: readonly number[]): Promise<void> {
  for (let left = lane; left.length > 0; ) {
    const { judged, isAtLoading } = await judgeSome(run, bundle, coverage, left);
    left = left.slice(judged);
    const [next, ...rest] = left;
    if (next === undefined) break;
    left = rest;
    const alone = isAtLoading ? await judgeSome(run, bundle, coverage, [next], next) : undefined;
    if (alone?.judged === 1) continue;
    const noticedBy = alone === undefined ? 'it never ended' : 'it does not load';
    run.onJudged({ mutant: next, noticedBy, asked: 1 });
  }
}

/**
 * Returns the number of mutants of `left` that were judged before the process ended or was killed; with one of them
 * active from the beginning if requested.
 */
async function judgeSome(
  run: MutationRun,
  bundle: string,
  coverage: string,
  left: readonly number[],
  awake?: number,
): Promise<{ readonly judged: number; readonly isAtLoading: boolean }> {
  const words = [
    JSON.stringify(left),
    coverage,
    String(run.seconds ?? 1000),
    ...(awake === undefined ? [] : [String(awake)]),
  ];
  const child = spawn(process.execPath, ['--enable-source-maps', bundle, ...words], {
    stdio: ['ignore', 'pipe', awake === undefined ? 'inherit' : 'ignore'],
  });
  const kill = () => child.kill('SIGKILL');
  let watchdog = setTimeout(kill, MAX_SILENCE_MS);
  let judged = 0;
  let isAtLoading = false;
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line);
    clearTimeout(watchdog);
    watchdog = setTimeout(kill, said.maxMs ?? MAX_SILENCE_MS);
    if ('mutant' in said) {
      judged++;
      run.onJudged(said);
    } else if ('loaded' in said) isAtLoading = true;
    else if ('file' in said) run.onCoverage(said.file, said.of);
  }
  clearTimeout(watchdog);
  const code = await closed;
  const isStuck = code === NEVER_SETTLED && left.length > 0;
  if (code !== null && code !== 0 && !isStuck && awake === undefined) throw new Error(`the tests ended with ${code}`);
  return { judged, isAtLoading };
}

async function bundleSwitched({ sources, tests }: MutationRun, outfile: string): Promise<void> {
  const main = [
    `import { judgeMutants } from ${JSON.stringify(HARNESS)};`,
    'const files = [];',
    ...tests.map((test) => `files.push((await import(${JSON.stringify(join(ROOT, test))})).default);`),
    'await judgeMutants(files, JSON.parse(process.argv[2]), process.argv[3]);',
  ];
  await build({
    stdin: { contents: main.join('\n'), resolveDir: ROOT, loader: 'ts' },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
    conditions: ['@basa/source'],
    logLevel: 'error',
    alias: { vitest: VITEST },
    external: ['esbuild', '@photostructure/sqlite'],
    // The mcl engine is CommonJS and requires Node's modules.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    plugins: [
      {
        name: 'switches',
        setup: ({ onLoad }) => {
          onLoad({ filter: /\.test\.ts$/ }, ({ path }) => ({ contents: testFile(path), loader: 'ts' }));
          onLoad({ filter: /packages\/.*\.ts$/ }, ({ path }) => {
            const source = sources.find(({ file }) => path === join(ROOT, file));
            const text = readFileSync(path, 'utf8');
            const contents = source === undefined ? text : withSwitches(text, source);
            return { contents: contents.replaceAll('import.meta.url', urlOf(path)), loader: 'ts' };
          });
        },
      },
    ],
  });
}

/** A module may look for files in its own folder, which is not that of the bundle. */
function urlOf(path: string): string {
  return JSON.stringify(pathToFileURL(path).href);
}

/** A test file as a function that collects its tests: its other top-level code runs again each time. */
function testFile(path: string): string {
  const text = readFileSync(path, 'utf8').replaceAll('import.meta.url', urlOf(path));
  const { module } = parseSync(path, text);
  const last = Math.max(0, ...module.staticImports.map(({ end }) => end));
  return `${text.slice(0, last)}\nexport default async function () {${text.slice(last)}}`;
}
