/** `npm run trial -- tests [filter ...]`: the tests that `npm test` leaves out because they take long. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ROOT } from '@basa/testkit/root.ts';

const filters = process.argv.slice(2);
if (filters.includes('--help')) {
  console.log(`npm run trial -- tests [filter ...]

Runs the files that end in .long.test.ts: whole accessibility of the pages, guides and new projects in Chromium, mutants of the core, processes that
are killed, experiments that are interrupted. A filter is a part of a path.`);
} else {
  const child = spawn('npx', ['vitest', 'run', ...filters], {
    cwd: ROOT,
    env: { ...process.env, BASA_LONG_TESTS: '1' },
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
}
