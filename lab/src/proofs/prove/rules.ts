/** `npm run lab -- prove rules [--quick] [--world TEXT] [--states N] [--json]`: the rules of the protocol as a small model, explored to the end. */
import { parseArgs } from 'node:util';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import type { Walk } from '../explorer/walk.ts';
import { MISSING_RULES, RULE_WORLDS } from '../rules/worlds.ts';

const HELP = `npm run lab -- prove rules [--quick] [--world TEXT] [--states N] [--json]

Explores every state of a small model of the rules of registration, vote, release and outcome. The model follows a buffer of a lying
server from its start to its end. Then each rule is left out, and the model must show which promise breaks. The test of a rule has the
rule's id in its name (docs/evidence.md).

  --quick        explore only the small worlds (seconds)
  --world TEXT   explore only the worlds whose name contains TEXT, without leaving out rules
  --states N     stop a world after N states (default: 3000000)
  --json         print the result as one JSON object in the last line`;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    world: { type: 'string' },
    states: { type: 'string', default: '3000000' },
    ...SWITCHES,
  },
});
const budget = Number(values.states);

function tell({ problem, steps }: NonNullable<Walk['counterexample']>): void {
  for (const [n, step] of steps.entries()) console.log(`  ${String(n + 1).padStart(3)}. ${step}`);
  console.log(`    => ${problem}`);
}

function exploreWorlds() {
  const chosen = RULE_WORLDS.filter(
    ({ name, isSmall }) => (isSmall || !values.quick) && name.includes(values.world ?? ''),
  );
  return chosen.map(({ name, run }) => {
    const begun = Date.now();
    const found = run({ budget });
    const { states, complete, depth, terminal, counterexample } = found;
    console.log(
      `${name}\n  ${states} states (${complete ? 'all' : 'budget'}), depth ${depth}, ${terminal} ends, ${secondsSince(begun)} s`,
    );
    if (counterexample !== undefined) tell(counterexample);
    return { world: name, ...found };
  });
}

function leaveOutRules() {
  return MISSING_RULES.map(({ id, name, problem, run }) => {
    const { counterexample, states, complete } = run({ budget });
    console.log(`\nWithout "${name}"${id === undefined ? '' : ` (${id})`}:`);
    if (counterexample !== undefined) tell(counterexample);
    else console.log(`    => nothing breaks in ${states} states`);
    const isSecondLine = problem === undefined;
    const isExpected = isSecondLine ? complete : counterexample?.problem === problem;
    if (!isExpected) console.log('    NOT EXPECTED');
    return { id, rule: name, isSecondLine, isExpected, steps: counterexample?.steps.length ?? 0 };
  });
}

if (values.help) console.log(HELP);
else if (!(Number.isSafeInteger(budget) && budget > 0)) {
  console.error('--states takes a positive whole number, for example --states 100000');
  process.exitCode = 2;
} else {
  const begun = Date.now();
  const worlds = exploreWorlds();
  const rules = values.world === undefined ? leaveOutRules() : [];
  const states = worlds.reduce((sum, one) => sum + one.states, 0);
  const complete = worlds.filter((one) => one.complete).length;
  const broken = worlds.filter((one) => one.counterexample !== undefined).length;
  const caught = rules.filter(({ isSecondLine, isExpected }) => !isSecondLine && isExpected).length;
  const isGood = worlds.length > 0 && broken === 0 && rules.every(({ isExpected }) => isExpected);
  console.log(
    `\n${worlds.length} worlds, ${complete} of them complete, ${states} states, ${broken} broken promises; ${caught} missing rules caught, ${rules.filter(({ isSecondLine }) => isSecondLine).length} have a second line of defence`,
  );
  if (values.json)
    console.log(
      JSON.stringify({
        rules: { seconds: secondsSince(begun), states, complete, broken, caught, worlds, rules },
      }),
    );
  process.exitCode = isGood ? 0 : 1;
}
