/** The results of an experiment: rows for machines, tables and figures for people, claims and their verdicts. */

import type { Figure } from '@basa/simulator/virtual-time';
import type { ChosenRates } from '../cells/changes.ts';
import { holm, type Judged, judge, type Verdict, verdictOver } from './verdict.ts';

type Value = string | number | boolean | null;
export type Row = Readonly<Record<string, Value>>;

export interface Table {
  readonly title: string;
  /** Headers above the columns, from left to right, each with the number of columns below it. */
  readonly groups?: readonly { readonly title: string; readonly columns: number }[];
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly note?: string;
}

/** A claim that was written before the run, with both numbers of every comparison. */
export interface Ordering {
  readonly claim: string;
  /** The section of the paper that makes the claim, or "ours". */
  readonly source: string;
  readonly verdict: Verdict;
  readonly seen: readonly (Judged & {
    readonly where: string;
    readonly left: number;
    readonly right: number;
    /** The left run ended without reaching the target: `left` is its time until then. */
    readonly isGivenUp?: boolean;
  })[];
}

/** One comparison of a claim, with both of its numbers. */
export function comparisonText({ where, left, right, isGivenUp, interval }: Ordering['seen'][number]): string {
  const ratio = interval === undefined ? '' : ` (ratio ${interval.map(shortNumber).join(' to ')})`;
  return `${where}: ${isGivenUp ? '> ' : ''}${shortNumber(left)} against ${shortNumber(right)}${ratio}`;
}

function shortNumber(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(4))) : 'never';
}

export interface Outcome {
  readonly experiment: string;
  readonly title: string;
  readonly profile: string;
  readonly rows: readonly Row[];
  readonly tables: readonly Table[];
  readonly figures: readonly Figure[];
  readonly orderings: readonly Ordering[];
  /** Notes that a reader needs to understand the numbers. */
  readonly notes: readonly string[];
  /** Server rates for later runs in the same folder. */
  readonly rates?: ChosenRates;
}

/** `ratios` are left divided by right, one for each seed that both sides have. If they are missing, each side has one measured number. */
export type Pair = readonly [
  where: string,
  left: number | undefined,
  right: number | undefined,
  isLeftGivenUp?: boolean | undefined,
  ratios?: readonly number[] | undefined,
];

/** Claims that `left` is at most `factor` times `right`, at every point that has both. A run that was given up always counts as slower. */
export function ordering(claim: string, pairs: readonly Pair[], factor = 1): Ordering {
  const seen = pairs.flatMap(([where, left, right, isGivenUp = false, ratios]) =>
    left === undefined || right === undefined
      ? []
      : [{ where, left, right, ...judge({ left, right, isGivenUp, ratios }, factor), ...(isGivenUp && { isGivenUp }) }],
  );
  return { claim, source: 'ours', verdict: verdictOver(seen.map(({ verdict }) => verdict)), seen };
}

/**
 * Our own claims of a run are one family: a claim that holds by its interval, but not by Holm's correction over all of them, is not decided.
 * Each comparison of a claim has to hold, so its largest p counts.
 */
export function corrected(outcomes: readonly Outcome[]): readonly Outcome[] {
  const pOf = ({ source, seen }: Ordering): number | undefined =>
    source === 'ours' && seen.length > 0 && seen.every(({ p }) => p !== undefined)
      ? Math.max(...seen.map(({ p = 1 }) => p))
      : undefined;
  const family = outcomes.flatMap(({ orderings }) => orderings).filter((one) => pOf(one) !== undefined);
  const counts = holm(family.map((one) => pOf(one) as number));
  const failed = new Set(family.filter((_, n) => !counts[n]));
  return outcomes.map((outcome) => ({
    ...outcome,
    orderings: outcome.orderings.map((one) =>
      failed.has(one) && one.verdict === 'holds' ? { ...one, verdict: 'not decided' as const } : one,
    ),
  }));
}

/** Marks a claim of the paper with the section that makes it. */
export function ofPaper(place: string, claimed: Ordering): Ordering {
  return { ...claimed, source: `paper, ${place}` };
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The standard deviation of a sample, or zero for a single value. */
export function deviation(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const middle = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1));
}
