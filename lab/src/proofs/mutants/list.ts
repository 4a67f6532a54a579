/**
 * Cores that lack one rule each, as patches of the source. `find` must occur exactly once in its file, so that the list stays in step with
 * the code. If two or three checks enforce one rule, the mutant leaves out all of them. Any one of these checks is enough to stop the
 * attack: `npm run lab -- prove mutants` and the tests verify this for every edit.
 */
import type { Mutant } from './mutant.ts';
import { MUTANTS_OF_COUNCILS } from './of-councils.ts';
import { MUTANTS_OF_ONE_SHOT } from './of-one-shot.ts';
import { MUTANTS_OF_SUCCESSION } from './of-succession.ts';
import { MUTANTS_OF_THE_CORES } from './of-the-cores.ts';
import { MUTANTS_OF_THE_PROTOCOL } from './of-the-protocol.ts';

export const MUTANTS: readonly Mutant[] = [
  ...MUTANTS_OF_THE_PROTOCOL,
  ...MUTANTS_OF_THE_CORES,
  ...MUTANTS_OF_COUNCILS,
  ...MUTANTS_OF_ONE_SHOT,
  ...MUTANTS_OF_SUCCESSION,
];
