/**
 * `npm run attacks [-- --json]`: the attacks of `basa attacks`, then those on several authorities. What the latter learn is computed by
 * the oracle: of the core as it is, and of one without the rule that stops them.
 */

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { FROM_SOURCE } from '@basa/testkit/root.ts';
import { MUTANTS_OF_COUNCILS } from '../mutants/of-councils.ts';
import { judgeMutant, type MutantVerdict } from '../mutants/runs.ts';

const HELP = `npm run attacks [-- --json]

Plays every attack of the threat model against the mode it breaks and against sealed mode, then the attacks of a server with one of
four authorities on its side (three are needed). For each: what it learns, and what it would learn without the rule that stops it.

  --json   end standard output with one line that is one JSON object`;
const BASA = fileURLToPath(new URL('../../../../packages/cli/src/main.ts', import.meta.url));

const { values } = parseArgs({
  options: { ...SWITCHES },
});
if (values.help) console.log(HELP);
else {
  const { attacks, isGood } = await playOfBasa();
  console.log('\nFour authorities, of which three are needed, one of them with the server:');
  const councils: MutantVerdict[] = [];
  for (const mutant of MUTANTS_OF_COUNCILS) {
    const verdict = await judgeMutant(mutant);
    councils.push(verdict);
    console.log(`\n${verdict.attack}`);
    console.log(`    the core as it is: ${verdict.unpatchedHolds ? 'nothing but the sum' : 'MORE THAN THE SUM'}`);
    console.log(`    ${verdict.name}: ${[...verdict.learned, ...verdict.broken].join(', ') || 'NOT NOTICED'}`);
  }
  const held = councils.filter(({ unpatchedHolds, caught }) => unpatchedHolds && caught).length;
  console.log(
    `\n${held} of ${councils.length} attacks on several authorities are stopped, each by the rule that is named.`,
  );
  if (values.json) console.log(JSON.stringify({ attacks, councils }));
  process.exitCode = isGood && held === councils.length ? 0 : 1;
}

/** Shows what `basa attacks` prints, all but its last line. */
async function playOfBasa(): Promise<{ readonly attacks: unknown; readonly isGood: boolean }> {
  const words = [...FROM_SOURCE, BASA, 'attacks', '--json'];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  const lines = printed.trimEnd().split('\n');
  console.log(lines.slice(0, -1).join('\n'));
  return { attacks: (JSON.parse(lines.at(-1) ?? '{}') as { attacks?: unknown }).attacks, isGood: code === 0 };
}
