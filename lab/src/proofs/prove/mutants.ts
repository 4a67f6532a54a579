/** `npm run lab -- prove mutants [--only TEXT] [--schedules N] [--json]`: the code without each rule, with the attack that then succeeds. */
import { parseArgs } from 'node:util';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import { judgeRules, type MutantVerdict } from '../../oracle/mutants.ts';
import { RULES } from '../../oracle/rules/all.ts';

const HELP = `npm run lab -- prove mutants [--only TEXT] [--schedules N] [--json]

Removes one rule at a time from the code, runs the attack that this rule stops, and prints the information that the attack reveals.

  --only TEXT     only the rules whose id contains TEXT
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
  const width = Math.max(...RULES.map(({ id }) => id.length));
  const verdicts: MutantVerdict[] = [];
  const rules = RULES.filter(({ id }) => id.includes(values.only));
  for await (const verdict of judgeRules(rules, { schedules })) {
    verdicts.push(verdict);
    const columns = [
      verdict.id.padEnd(width),
      verdict.caught ? 'caught' : 'MISSED',
      `${verdict.edits} ${verdict.edits === 1 ? 'check ' : 'checks'}`,
      ...(schedules > 0 ? [(verdict.generated ?? 'not found').padEnd(24)] : []),
      verdict.learned.join('; '),
    ];
    console.log(columns.join('  '));
  }
  const caught = verdicts.filter((verdict) => verdict.caught).length;
  const held = verdicts.filter((verdict) => verdict.unpatchedHolds).length;
  console.log(
    `${caught} of ${verdicts.length} mutants caught. The unmodified code withstands ${held} of these attacks.`,
  );
  if (values.json) console.log(JSON.stringify({ mutants: verdicts }));
  process.exitCode = caught === verdicts.length && held === verdicts.length ? 0 : 1;
}
