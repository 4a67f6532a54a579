/** The code without each rule, with the attack that then succeeds. */
import { judgeRules, type MutantVerdict } from '../oracle/mutants.ts';
import { RULES } from '../oracle/rules/all.ts';

interface MutantsOptions {
  readonly schedules: number;
  readonly only?: string;
}

export async function proveMutants({ schedules, only = '' }: MutantsOptions, tell: (line: string) => void) {
  const width = Math.max(...RULES.map(({ id }) => id.length));
  const verdicts: MutantVerdict[] = [];
  for await (const verdict of judgeRules(
    RULES.filter(({ id }) => id.includes(only)),
    { schedules },
  )) {
    verdicts.push(verdict);
    const { id, caught, edits, generated, learned } = verdict;
    const columns = [
      id.padEnd(width),
      caught ? 'caught' : 'MISSED',
      `${edits} ${edits === 1 ? 'check ' : 'checks'}`,
      ...(schedules > 0 ? [(generated ?? 'not found').padEnd(24)] : []),
      learned.join('; '),
    ];
    tell(columns.join('  '));
  }
  const missed = verdicts.filter(({ caught }) => !caught);
  const weak = verdicts.filter(({ unpatchedHolds }) => !unpatchedHolds);
  return {
    caught: `${verdicts.length - missed.length} of ${verdicts.length} mutants`,
    withstood: `${verdicts.length - weak.length} of these attacks, by the unmodified code`,
    problems: [
      ...missed.map(({ id }) => `${id}: the mutant is not noticed`),
      ...weak.map(({ id }) => `${id}: the attack succeeds against the code as it is`),
    ],
    details: { verdicts },
  };
}
