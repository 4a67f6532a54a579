// Plays the scenarios against services that it starts, or against services that are up.
import { parseArgs } from 'node:util';
import { play, SCENARIOS } from './scenarios.mjs';
import { findServices, startServices } from './services.mjs';

const HELP = `node examples/second-reader/run.mjs: whole buffers of devices that were written from docs/wire-format.md alone

  --only <text>        only scenarios whose name holds this text
  --server <url>       play against this server instead of services that are started here
  --authority <url>    and its authority; several with commas between them
  --token <text>       an operator's token that opens all of them; the authorities' logs need the role auditor too
  --json               end standard output with one JSON object
  --help               this text

scenarios:
  ${SCENARIOS.map(({ name }) => name).join('\n  ')}`;

function fail(what) {
  console.error(`${what}\n\n${HELP}`);
  process.exit(2);
}

function readArguments() {
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  const options = {
    only: { ...text, default: '' },
    json: flag,
    help: flag,
    server: text,
    authority: text,
    token: text,
  };
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return fail(error.message);
  }
}

const values = readArguments();
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
if (values.server && !(values.authority && values.token)) fail('--server goes with --authority and --token');
const given = values.server && (await findServices(values.server, values.authority.split(','), values.token));
const chosen = SCENARIOS.filter(({ name, n, downAfter }) => {
  const isPlayable = !given || (n === given.authorities.length && downAfter === undefined);
  return isPlayable && name.includes(values.only);
});
if (chosen.length === 0) fail(`nothing to play with "${values.only}" in its name`);

const results = [];
for (const n of new Set(chosen.map((scenario) => scenario.n))) {
  const services = given ?? (await startServices(n));
  try {
    for (const scenario of chosen.filter((one) => one.n === n)) results.push(await resultOf(services, scenario));
  } finally {
    await services.stop();
  }
}

async function resultOf(services, scenario) {
  const { name } = scenario;
  try {
    const sums = await play(services, scenario);
    for (const { accepted, largestError, bound } of sums) {
      const [error, allowed] = [largestError.toExponential(1), bound.toExponential(1)];
      console.log(
        `${name}: slots ${accepted.join(' ')}; off the plain mean by ${error}, at most ${allowed} is explained`,
      );
    }
    return { name, holds: true, sums };
  } catch (error) {
    console.error(`${name}: FAILED`, error);
    return { name, holds: false, detail: String(error) };
  }
}

const failed = results.filter((result) => !result.holds).length;
console.log(`${results.length - failed} of ${results.length} scenarios hold.`);
if (values.json) console.log(JSON.stringify({ scenarios: results, held: results.length - failed, failed }));
process.exitCode = failed === 0 ? 0 : 1;
