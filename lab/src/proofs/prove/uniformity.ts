/** `npm run lab -- prove uniformity [--runs N] [--seed S] [--json]`: the statistical tests of stored uploads, over many seeds. */
import { modulusName } from '@basa/masking';
import { fixedVersusRandom, type Suspicion, uniformityOf } from '@basa/simulator';
import { secondsSince } from '@basa/testkit/programs/seconds.ts';
import { GROUPS, MODES } from '../uniformity/uploads.ts';
import { readOptions } from './options.ts';

const HELP = `npm run lab -- prove uniformity [--runs N] [--seed S] [--json]

Fills a buffer of each mode in each group N times (100 by default), and tests each upload and every two together against the uniform distribution,
and uploads of fixed updates against those of random ones. Fails where the smallest of all p-values, times their number, is below 10^-6.
Run n has seeds S + 2n and S + 2n + 1 (S is 1 by default), so that runs add up; the last line of --json names the next seed.
The exact part (every mask enumerated) is a test: npx vitest run lab/test/proofs/exact-uniformity.test.ts`;
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
