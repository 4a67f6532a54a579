/** Holds every platform that is asked for to every suite. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { launchChromium } from '@basa/testkit/browser/chromium.ts';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { build } from 'esbuild';
import { nodePlatform, webPlatformInNode } from './platforms.ts';
import type { Counted, Platform } from './suite.ts';
import { SUITES } from './suites.ts';

export interface SuiteResult extends Counted {
  readonly name: string;
}

/** The folder of the published cases, which are not part of the repository. */
export const OUTSIDE_FOLDER = resolve(ROOT, process.env['BASA_OUTSIDE'] ?? '../shared/outside');

export const NO_FOLDER = `the cases that others wrote are not at ${OUTSIDE_FOLDER}; set BASA_OUTSIDE to their folder`;

export function hasOutsideFolder(): boolean {
  return existsSync(join(OUTSIDE_FOLDER, 'wycheproof'));
}

export function textsOf(suite: string): readonly string[] {
  return (SUITES[suite]?.files ?? []).map((file) => {
    const bytes = readFileSync(join(OUTSIDE_FOLDER, file));
    return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  });
}

export async function* inNode(everyNthPoint = 1): AsyncGenerator<SuiteResult> {
  yield* onPlatform('Node', await nodePlatform(everyNthPoint));
  yield* onPlatform('browser suite in Node', webPlatformInNode());
}

async function* onPlatform(platformName: string, platform: Platform): AsyncGenerator<SuiteResult> {
  for (const [name, suite] of Object.entries(SUITES))
    yield { name: `${name} (${platformName})`, ...(await suite.run(textsOf(name), platform)) };
}

export async function* inChromium(): AsyncGenerator<SuiteResult> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('in-chromium.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['@basa/source'],
    logLevel: 'error',
  });
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    // WebCrypto exists only at addresses that browsers trust.
    await page.route('http://localhost/', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }),
    );
    await page.goto('http://localhost/');
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '', type: 'module' });
    await page.waitForFunction(() => 'runSuite' in globalThis);
    for (const name of Object.keys(SUITES)) {
      const counted = await page.evaluate(
        ([suite, texts]) => {
          const { runSuite } = globalThis as unknown as {
            runSuite(name: string, texts: readonly string[]): Promise<Counted>;
          };
          return runSuite(suite, texts);
        },
        [name, textsOf(name)] as const,
      );
      yield { name: `${name} (Chromium)`, ...counted };
    }
  } finally {
    await browser.close();
  }
}

/** The client in Python, for the functions that it has. */
export function inPython(): readonly SuiteResult[] {
  const python = process.env['BASA_PYTHON'] ?? 'python3';
  const script = fileURLToPath(new URL('outside.py', import.meta.url));
  const { status, stdout, stderr, error } = spawnSync(python, [script, OUTSIDE_FOLDER], {
    cwd: join(ROOT, 'clients/python'),
    env: { ...process.env, PYTHONPATH: join(ROOT, 'clients/python') },
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (error !== undefined || stderr.includes('ModuleNotFoundError'))
    throw new MissingError(
      'Python with cryptography and numpy is missing (Debian: python3-cryptography python3-numpy), or set BASA_PYTHON',
    );
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as readonly SuiteResult[];
}
