/** Judges an opened sum: it is applied only if it can be a sum of honest inputs. */
import { firstOutOfRange, toSigned, type VectorKernel } from '@basa/masking';
import { judgeBehind, judgePrefix, type PrefixVerdict, updateWords } from '../wire/input-words.ts';
import { sumBound } from '../wire/privacy.ts';
import { statisticsFault } from '../wire/statistics-results.ts';
import type { SumRules } from '../wire/sum-rules.ts';

type Quarantine = Extract<PrefixVerdict, { kind: 'quarantine' }>;

export type SumVerdict = (Extract<PrefixVerdict, { kind: 'good' }> & { readonly sum: Uint32Array }) | Quarantine;

/** The words around the coordinates must be correct, and every coordinate in range. */
export function judgeSum(rules: SumRules, total: Uint32Array, accepted: number): SumVerdict {
  const prefix = judgePrefix(rules, total, accepted);
  if (prefix.kind === 'quarantine') return prefix;
  const { update: sum, behind } = updateWords(rules, total);
  const spoilt = judgeBehind(behind);
  if (spoilt !== undefined) return spoilt;
  return judgeCoordinates(rules, sum, { accepted, weightSum: prefix.weightSum }) ?? { ...prefix, sum };
}

/** The number of updates in a sum, and its divisor. */
export interface SummedUpdates {
  readonly accepted: number;
  readonly weightSum: number;
}

/** Coordinates from number `first` on; undefined if all of them are in range. The words of statistics are judged together. */
export function judgeCoordinates(
  rules: SumRules,
  coordinates: Uint32Array,
  updates: SummedUpdates,
  first = 0,
  kernel?: VectorKernel,
): Quarantine | undefined {
  const { modulus, statistics } = rules;
  if (statistics !== undefined) {
    const sums = Array.from(coordinates, (word) => toSigned(word, modulus));
    const why = statisticsFault({ ...rules, statistics }, sums, updates.accepted);
    return why === undefined ? undefined : { kind: 'quarantine', why };
  }
  const offender = firstOutOfRange(coordinates, modulus, coordinateBound(rules, updates), kernel);
  return offender < 0 ? undefined : { kind: 'quarantine', why: `coordinate ${first + offender} is out of range` };
}

/**
 * An honest update is clipped, then weighted, then rounded: |x| <= c clip w/W + 1, and so for a sum. This keeps the
 * mean of the sum within the clip, even if a liar makes the sum of weights small: otherwise that would multiply the
 * step by up to W. With noise this bound is weak; there the smallest weight of a device is bounded instead.
 */
function coordinateBound(rules: SumRules, { accepted, weightSum }: SummedUpdates): number {
  const { level, clip, weightScale, privacy } = rules;
  const plain = sumBound(rules, accepted);
  if (privacy !== undefined) return plain;
  return Math.min(plain, Math.ceil((level * clip * weightSum) / weightScale) + accepted);
}
