/** The statistical tests of stored uploads, over many seeds. */
import { modulusName } from '@basa/masking';
import { fixedVersusRandom, type Suspicion, uniformityOf } from '@basa/simulator';
import { GROUPS, MODES } from './uniformity/uploads.ts';

const ALARM = 1e-6;

export async function proveUniformity(
  { runs, seed }: { readonly runs: number; readonly seed: number },
  tell: (line: string) => void,
) {
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
      const fixed = uploads({ modulus, seed: first });
      take(uniformityOf(fixed, modulus));
      take(fixedVersusRandom(fixed, uploads({ modulus, isFixed: false, seed: first + 1 }), modulus));
    }
    tell(`${mode}, ${modulusName(modulus)}: ${tests} tests, smallest p ${smallest.toExponential(1)} (${name})`);
    return { mode, group: modulusName(modulus), tests, smallest, name };
  });
  const tests = results.reduce((sum, one) => sum + one.tests, 0);
  const smallest = Math.min(...results.map((one) => one.smallest));
  return {
    tests,
    smallest: smallest.toExponential(1),
    nextSeed: seed + 2 * runs,
    problems: smallest * tests >= ALARM ? [] : ['uploads are not uniform'],
    details: { results },
  };
}
