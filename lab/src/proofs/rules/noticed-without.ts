/** Takes one rule out of the code, and sees what notices it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';
import { MUTANTS } from '../mutants/list.ts';
import { judgeMutant } from '../mutants/runs.ts';
import { runMutants } from '../mutation/run.ts';
import type { HeldBy } from './held-by.ts';

/** What notices that the code lacks this rule: a test of the file, or the attack of the mutant; null where nothing does. */
export async function noticedWithout(held: HeldBy): Promise<string | null> {
  if ('mutant' in held) {
    const mutant = MUTANTS.find(({ name }) => name === held.mutant);
    if (mutant === undefined) throw new Error(`there is no mutant "${held.mutant}"`);
    const { caught, attack } = await judgeMutant(mutant);
    return caught ? attack : null;
  }
  const { file, code, without, tests } = held;
  const start = readFileSync(join(ROOT, file), 'utf8').indexOf(code);
  if (start < 0) throw new Error(`${file} does not hold ${code}`);
  // Where the expression alone is not unique, what follows it is on the next line.
  const [before = code] = code.split(',\n');
  const mutant = { line: 0, before, after: without, start, end: start + before.length, isStep: false };
  let found: string | null = null;
  await runMutants({
    sources: [{ file, mutants: [mutant], first: 0 }],
    tests: [tests],
    chosen: [0],
    onCoverage: () => {},
    onJudged: ({ noticedBy }) => {
      found = noticedBy;
    },
  });
  return found;
}
