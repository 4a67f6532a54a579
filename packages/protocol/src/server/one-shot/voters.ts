/** The authorities that would vote for an upload, by their verdicts. */
import type { Verdict } from '../../wire/one-shot/messages.ts';

type Saying = Pick<Verdict, 'verdict' | 'reason'>;

/** The verdict of an authority on one upload. */
export interface SaidBy extends Saying {
  readonly authority: number;
}

/** Two bit masks of authorities. */
export interface Voters {
  /** They found it good. */
  readonly sure: number;
  /** They do not know its device: they vote for it if f + 1 others do. */
  readonly backed: number;
  /** True if another authority would refuse it. */
  readonly isDoubted: boolean;
}

export function votersOf(said: readonly SaidBy[]): Voters {
  return {
    sure: maskOf(said.filter(({ verdict }) => verdict === 'good')),
    backed: maskOf(said.filter(isBacked)),
    isDoubted: said.some(({ verdict }) => verdict === 'bad'),
  };
}

/** For every other reason an authority refuses, whatever others do. */
export function wouldVote(said: Saying): boolean {
  return said.verdict === 'good' || isBacked(said);
}

function isBacked({ verdict, reason }: Saying): boolean {
  return verdict === 'abstain' && reason === 'not-enrolled';
}

function maskOf(some: readonly SaidBy[]): number {
  return some.reduce((mask, { authority }) => mask | (1 << authority), 0);
}
