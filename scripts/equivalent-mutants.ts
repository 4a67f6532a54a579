/** Changes of the core that change nothing anybody could see, each with its reason: no test can notice them. */
import type { Mutant } from './mutants.ts';

interface Equivalent {
  readonly file: string;
  readonly before: string;
  readonly after: string;
  readonly why: string;
}

const EQUIVALENT: readonly Equivalent[] = [];

export function isEquivalent(file: string, { before, after }: Mutant): boolean {
  return EQUIVALENT.some((one) => file.endsWith(one.file) && one.before === before && one.after === after);
}
