/** `npm run lab -- prove uniformity [--runs N] [--seed S] [--json]`: the statistical tests of stored uploads, over many seeds. */
import { modulusName } from '@basa/masking';
import { fixedVersusRandom, type Suspicion, uniformityOf } from '@basa/simulator';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import { GROUPS, MODES } from '../uniformity/uploads.ts';
import { readOptions } from './options.ts';

const HELP = `npm run lab -- prove uniformity [--runs N] [--seed S] [--json]

Tests whether stored uploads are uniformly distributed. It fills a buffer N times in each mode and group, tests each upload and each pair
of uploads, and compares uploads of fixed updates with uploads of random updates. The program fails if the smallest p-value, multiplied by
the number of tests, is below 10^-6.

  --runs N   number of buffers for each mode and group (default: 100)
  --seed S   first seed (default: 1); run n uses the seeds S + 2n and S + 2n + 1
  --json     print the result as one JSON object in the last line, with the next seed

The exact part, which enumerates every mask, is a test: npx vitest run lab/test/proofs/exact-uniformity.test.ts`;
const ALARM = 1e-6;

const { runs, seed, json } = readOptions({
  help: HELP,
  numbers: { runs: 100, seed: 1 },
  example: '--runs 10',
});
const begun = Date.now();
const cases = MODES.flatMap(([mode, uploads]) => GROUPS.map((modulus) => ({ mode, uploads, modulus })));
const results = cases.map(({ mode, uploads, modulus }) => {
  let [tests, smallest] = [0, 1];
  let name = '';
  const take = (found: readonly Suspicion[]): void => {
    tests += found.length;
    const [worst] = found;
    if (worst === undefined || worst.pValue >= smallest) return;
    [smallest, name] = [worst.pValue, worst.name];
  };
  for (let run = 0; run < runs; run++) {
    const first = seed + 2 * run;
    const [fixed, random] = [uploads({ modulus, seed: first }), uploads({ modulus, isFixed: false, seed: first + 1 })];
    take(uniformityOf(fixed, modulus));
    take(fixedVersusRandom(fixed, random, modulus));
  }
  console.log(`${mode}, ${modulusName(modulus)}: ${tests} tests, smallest p ${smallest.toExponential(1)} (${name})`);
  return { mode, group: modulusName(modulus), tests, smallest, name };
});
const tests = results.reduce((sum, one) => sum + one.tests, 0);
const smallest = Math.min(...results.map((one) => one.smallest));
const isQuiet = smallest * tests >= ALARM;
console.log(
  `${tests} tests, smallest p ${smallest.toExponential(1)}: ${isQuiet ? 'as noise gives for this number of tests' : 'NOT UNIFORM'}`,
);
if (json) {
  const nextSeed = seed + 2 * runs;
  console.log(
    JSON.stringify({ uniformity: { seed, nextSeed, seconds: secondsSince(begun), runs, tests, smallest, results } }),
  );
}
process.exitCode = isQuiet ? 0 : 1;
