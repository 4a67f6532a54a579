/** Files of tests that are a trial of their own, and how many of them passed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';

interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
}

/** Shows the output of vitest. Counts nothing if vitest could not start. */
export async function runVitest(
  filters: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<TestCounts & { readonly exitCode: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'basa-tests-'));
  const report = join(folder, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const child = spawn(join(ROOT, 'node_modules/.bin/vitest'), ['run', ...reporters, ...filters], {
      cwd: ROOT,
      env: { ...process.env, ...environment },
      stdio: 'inherit',
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    return { ...countsIn(report), exitCode: code ?? 1 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function countsIn(report: string): TestCounts {
  try {
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(
      readFileSync(report, 'utf8'),
    ) as VitestReport;
    return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests };
  } catch {
    return { passed: 0, failed: 0, skipped: 0 };
  }
}
