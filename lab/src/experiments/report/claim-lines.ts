/** The claims of an experiment as lines of a terminal, each with its verdict. Runs of the profile smoke are too small to judge them. */
import type { Outcome } from './outcome.ts';

const INDENT = ' '.repeat(19);

export function claimLines({ profile, orderings }: Pick<Outcome, 'profile' | 'orderings'>): readonly string[] {
  if (profile === 'smoke')
    return [
      'Expected, and not judged: a smoke run is too small for that. Use --profile small or full.',
      ...orderings.map(({ claim }) => `  not judged     ${claim}`),
    ];
  const judged = orderings.flatMap(({ claim, verdict, seen }) => [
    `  ${verdict.padEnd(13)}  ${claim}`,
    ...seen
      .filter((one) => one.verdict !== 'holds')
      .map(
        ({ where, left, right, isGivenUp }) =>
          `${INDENT}${where}: ${isGivenUp ? '> ' : ''}${left.toPrecision(4)} against ${right.toPrecision(4)}`,
      ),
  ]);
  return ['Expected, written down before the run:', ...judged];
}
