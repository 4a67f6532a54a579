// Plays the scenarios against services that it starts: `node examples/second-reader/run.mjs [--only <text>] [--json]`.
import { parseArgs } from 'node:util';
import { play, SCENARIOS } from './scenarios.mjs';
import { startServices } from './services.mjs';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, json: { type: 'boolean', default: false } },
});
const chosen = SCENARIOS.filter((scenario) => scenario.name.includes(values.only));
if (chosen.length === 0) {
  console.error(
    `no scenario has "${values.only}" in its name; there are:\n${SCENARIOS.map(({ name }) => `  ${name}`).join('\n')}`,
  );
  process.exit(2);
}

const results = [];
for (const n of new Set(chosen.map((scenario) => scenario.n))) {
  const services = await startServices(n);
  try {
    for (const scenario of chosen.filter((one) => one.n === n)) {
      try {
        const result = await play(services, scenario);
        results.push({ ...result, holds: true });
        for (const { accepted, largestError, bound } of result.sums) {
          console.log(
            `${scenario.name}: slots ${accepted.join(' ')}; off the plain mean by ${largestError.toExponential(1)}, rounding allows ${bound.toExponential(1)}`,
          );
        }
      } catch (error) {
        results.push({ name: scenario.name, holds: false, detail: String(error) });
        console.error(`${scenario.name}: FAILED`, error);
      }
    }
  } finally {
    await services.stop();
  }
}
const failed = results.filter((result) => !result.holds).length;
if (values.json) console.log(JSON.stringify({ scenarios: results, held: results.length - failed, failed }));
process.exitCode = failed === 0 ? 0 : 1;
