/** `npm run lab -- trial tests [filter ...] [--json]`: the tests that `npm test` leaves out because they take long. */
import { parseArgs } from 'node:util';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { runVitest } from './vitest.ts';

const { values, positionals } = parseArgs({ options: SWITCHES, allowPositionals: true });
if (values.help) {
  console.log(`npm run lab -- trial tests [filter ...] [--json]

Runs the slow tests, in files that end in .long.test.ts: full accessibility checks of the pages, guides and new projects in Chromium,
mutants of the core, killed processes, and interrupted experiments. A filter is a part of a path.`);
} else {
  const { exitCode, ...tests } = await runVitest(positionals, { BASA_LONG_TESTS: '1' });
  if (values.json) console.log(JSON.stringify({ tests }));
  process.exitCode = exitCode;
}
