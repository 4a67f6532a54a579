/** The authorities that would vote for an upload, by their verdicts. */
import type { Verdict } from '../../wire/one-shot/messages.ts';

/** The verdict of an authority on one upload. */
export interface SaidBy extends Pick<Verdict, 'verdict'> {
  readonly authority: number;
}

export interface Voters {
  /** A bit mask of the authorities that called it good. */
  readonly good: number;
  /** True if another authority would refuse it. */
  readonly isDoubted: boolean;
}

export function votersOf(said: readonly SaidBy[]): Voters {
  const good = said.filter(({ verdict }) => verdict === 'good');
  return {
    good: good.reduce((mask, { authority }) => mask | (1 << authority), 0),
    isDoubted: said.some(({ verdict }) => verdict === 'bad'),
  };
}
