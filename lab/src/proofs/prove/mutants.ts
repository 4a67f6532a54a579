/** `npm run lab -- prove mutants [--only TEXT] [--schedules N] [--json]`: every mutant of the core, with the attack that it lets succeed. */
import { parseArgs } from 'node:util';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { MUTANTS } from '../mutants/list.ts';
import { judgeMutant, type MutantVerdict } from '../mutants/runs.ts';

const HELP = `npm run lab -- prove mutants [--only TEXT] [--schedules N] [--json]

Removes one rule at a time from the core, runs the attack that this rule stops, and prints the information that the attack reveals.

  --only TEXT     only the mutants whose name contains TEXT
  --schedules N   also run up to N generated schedules against each mutant, until one leaks (default: 0)
  --json          print the result as one JSON object in the last line`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    schedules: { type: 'string', default: '0' },
    ...SWITCHES,
  },
});
const schedules = Number(values.schedules);
if (values.help) console.log(HELP);
else if (!(Number.isSafeInteger(schedules) && schedules >= 0)) {
  console.error('--schedules takes a whole number, for example --schedules 2000');
  process.exitCode = 2;
} else {
  const width = Math.max(...MUTANTS.map(({ name }) => name.length));
  const verdicts: MutantVerdict[] = [];
  for (const mutant of MUTANTS.filter(({ name }) => name.includes(values.only))) {
    const verdict = await judgeMutant(mutant, schedules);
    verdicts.push(verdict);
    const seed = verdict.generated ?? 'not found';
    const columns = [
      verdict.name.padEnd(width),
      verdict.caught ? 'caught' : 'MISSED',
      `${verdict.edits} ${verdict.edits === 1 ? 'check ' : 'checks'}`,
      ...(schedules > 0 ? [seed.padEnd(24)] : []),
      verdict.caught ? [...verdict.learned, ...verdict.broken].join('; ') : '',
    ];
    console.log(columns.join('  '));
  }
  const caught = verdicts.filter((verdict) => verdict.caught).length;
  const held = verdicts.filter((verdict) => verdict.unpatchedHolds).length;
  console.log(
    `${caught} of ${verdicts.length} mutants caught. The unmodified core withstands ${held} of these attacks.`,
  );
  if (values.json) console.log(JSON.stringify({ mutants: verdicts }));
  process.exitCode = caught === verdicts.length && held === verdicts.length ? 0 : 1;
}
