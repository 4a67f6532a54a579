/** Prints the claims of an experiment with their verdicts. Claims are not judged in the profile smoke, because its runs are too small. */
import { comparisonText, type Outcome } from './outcome.ts';

const INDENT = ' '.repeat(19);

export function claimLines({ profile, orderings }: Pick<Outcome, 'profile' | 'orderings'>): readonly string[] {
  if (profile === 'smoke')
    return [
      'Claims, not judged because a smoke run is too small. Use --profile small or full:',
      ...orderings.map(({ claim }) => `  not judged     ${claim}`),
    ];
  const judged = orderings.flatMap(({ claim, verdict, seen }) => [
    `  ${verdict.padEnd(13)}  ${claim}`,
    ...seen.filter((one) => one.verdict !== 'holds').map((one) => INDENT + comparisonText(one)),
  ]);
  return ['Claims that were written before the run:', ...judged];
}
