// Plays the scenarios: `node examples/second-reader/run.mjs [--only <text>] [--json]` against services that it starts, and with
// `--server <url> --authority <url,...> --token <operator's>` against services that are up.
import { parseArgs } from 'node:util';
import { play, SCENARIOS } from './scenarios.mjs';
import { findServices, startServices } from './services.mjs';

const text = { type: 'string' };
const { values } = parseArgs({
  options: { only: { ...text, default: '' }, json: { type: 'boolean' }, server: text, authority: text, token: text },
});
const given = values.server && (await findServices(values.server, values.authority.split(','), values.token));
const chosen = SCENARIOS.filter(({ name, n, downAfter }) => {
  const isPlayable = !given || (n === given.authorities.length && downAfter === undefined);
  return isPlayable && name.includes(values.only);
});
if (chosen.length === 0) {
  console.error(
    `nothing to play with "${values.only}" in its name; there are:\n  ${SCENARIOS.map(({ name }) => name).join('\n  ')}`,
  );
  process.exit(2);
}

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
      console.log(`${name}: slots ${accepted.join(' ')}; off the plain mean by ${error}, rounding allows ${allowed}`);
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
