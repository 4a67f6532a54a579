/** Judges a claim of the form "at most x times as much" over paired seeds: by the 95 % interval of the mean ratio. */

import { studentQuantile } from '@basa/simulator/virtual-time';

export type Verdict = 'holds' | 'does not hold' | 'not decided';

export interface Judged {
  readonly verdict: Verdict;
  /** The 95 % interval of the geometric mean of the ratio over seeds, by Student's t. */
  readonly interval?: readonly [low: number, high: number];
  /** The one-sided p of the claim: how likely such ratios are if it is wrong. */
  readonly p?: number;
}

interface Compared {
  readonly left: number;
  readonly right: number;
  readonly isGivenUp: boolean;
  readonly ratios?: readonly number[] | undefined;
}

/** One seed is not enough for a verdict. Numbers that do not depend on a seed are compared directly. */
export function judge({ left, right, isGivenUp, ratios }: Compared, factor: number): Judged {
  if (isGivenUp) return { verdict: 'does not hold' };
  if (ratios === undefined) return { verdict: left <= factor * right ? 'holds' : 'does not hold' };
  if (ratios.length < 2) return { verdict: 'not decided' };
  const interval = intervalOf(ratios);
  const [low, high] = interval;
  const p = pOf(ratios, factor);
  return { verdict: high <= factor ? 'holds' : low > factor ? 'does not hold' : 'not decided', interval, p };
}

/** By Student's t of the logarithms. */
function pOf(ratios: readonly number[], factor: number): number {
  const logs = ratios.map((ratio) => Math.log(ratio / factor));
  const mean = logs.reduce((sum, one) => sum + one, 0) / logs.length;
  const degrees = logs.length - 1;
  const variance = logs.reduce((sum, one) => sum + (one - mean) ** 2, 0) / degrees;
  if (variance === 0) return mean <= 0 ? 0 : 1;
  return studentBelow(mean / Math.sqrt(variance / logs.length), degrees);
}

/** P(T <= t), by integration of the density with Simpson's rule from 0 to |t|. */
export function studentBelow(t: number, degrees: number): number {
  const density = (x: number): number => (1 + x ** 2 / degrees) ** (-(degrees + 1) / 2);
  const integral = (to: number): number => {
    const steps = 4000;
    const width = to / steps;
    let sum = density(0) + density(to);
    for (let n = 1; n < steps; n++) sum += (n % 2 === 1 ? 4 : 2) * density(n * width);
    return (sum * width) / 3;
  };
  const half = integral(Math.min(Math.abs(t), FAR));
  const share = 0.5 * Math.min(1, half / integral(FAR));
  return t < 0 ? 0.5 - share : 0.5 + share;
}

/** Beyond this there is nothing left of the density for three or more degrees of freedom. */
const FAR = 200;

/** One-sided, as the 95 % interval has two sides. */
const LEVEL = 0.025;

/**
 * Holm's correction over a family of claims: of m claims, the one with the smallest p counts only if that is at most 0.025 / m, the next if its p
 * is at most 0.025 / (m - 1), and so on until the first that is not. Returns which of them count.
 */
export function holm(ps: readonly number[]): readonly boolean[] {
  const order = [...ps.keys()].sort((a, b) => (ps[a] as number) - (ps[b] as number));
  const first = order.findIndex((n, rank) => (ps[n] as number) > LEVEL / (ps.length - rank));
  const counted = new Set(first < 0 ? order : order.slice(0, first));
  return ps.map((_, n) => counted.has(n));
}

export function intervalOf(ratios: readonly number[]): readonly [low: number, high: number] {
  const logs = ratios.map(Math.log);
  const degrees = logs.length - 1;
  const mean = logs.reduce((sum, one) => sum + one, 0) / logs.length;
  const variance = logs.reduce((sum, one) => sum + (one - mean) ** 2, 0) / degrees;
  const half = studentQuantile(degrees) * Math.sqrt(variance / logs.length);
  return [Math.exp(mean - half), Math.exp(mean + half)];
}

/** A claim holds if it holds at every point. One counterexample is enough to reject it. */
export function verdictOver(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes('does not hold')) return 'does not hold';
  return verdicts.length === 0 || verdicts.includes('not decided') ? 'not decided' : 'holds';
}
