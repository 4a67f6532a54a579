/** Cells by protocol and delay, and functions that find their results by name. */

import { isOneVersion } from '@basa/simulator/virtual-time';
import { deviation, mean, type Pair } from '../report/outcome.ts';
import type { CellResult } from '../run/grid.ts';
import { type Cell, type ExperimentTask, titleOf } from '../tasks/tasks.ts';
import { lineOf, meanOf } from './racers.ts';

/** One seed of a cell. */
interface Run {
  readonly seed: number;
  readonly seconds: number;
  readonly isReached: boolean;
}

export interface Found {
  readonly runs: readonly Run[];
  readonly seconds: number;
  readonly deviation: number;
  readonly seeds: number;
  readonly versions: number;
  readonly secondsPerVersion: number;
  readonly isReached: boolean;
  readonly meanAge: number;
  readonly accuracy: number;
}

export function overSeeds(results: readonly CellResult[], isHere: (cell: Cell) => boolean): Found | undefined {
  const here = results.filter(({ cell }) => isHere(cell));
  if (here.length === 0) return undefined;
  const seconds = here.map((result) => result.seconds);
  return {
    runs: here.map(({ cell, seconds: own, isReached }) => ({ seed: cell.seed, seconds: own, isReached })),
    seconds: mean(seconds),
    deviation: deviation(seconds),
    seeds: here.length,
    versions: mean(here.map(({ versions }) => versions)),
    secondsPerVersion: mean(here.map(({ secondsPerVersion }) => secondsPerVersion)),
    isReached: here.every(({ isReached }) => isReached),
    meanAge: mean(here.map(({ meanAge }) => meanAge)),
    accuracy: mean(here.map(({ trained }) => trained.wholeAccuracy)),
  };
}

/** Each seed that all cells have, with the geometric mean of its seconds. */
export function overPoints(cells: readonly (Pick<Found, 'runs'> | undefined)[]): Pick<Found, 'runs'> {
  const runs = (cells[0]?.runs ?? []).flatMap((first) => {
    const all = cells.flatMap((cell) => cell?.runs.find(({ seed }) => seed === first.seed) ?? []);
    if (all.length < cells.length) return [];
    const seconds = Math.exp(mean(all.map((run) => Math.log(run.seconds))));
    return [{ ...first, seconds, isReached: all.every(({ isReached }) => isReached) }];
  });
  return { runs };
}

/**
 * Pairs two cells for a claim about their seconds to the target. Only seeds that both cells have are compared: with the same
 * seed, both have the same data, initial model, users and delays, which explain most of the variance.
 */
export function pairOf(
  where: string,
  left: Pick<Found, 'runs'> | undefined,
  right: Pick<Found, 'runs'> | undefined,
): Pair {
  const pairs = (left?.runs ?? []).flatMap((ours) => {
    const theirs = right?.runs.find(({ seed }) => seed === ours.seed);
    return theirs === undefined ? [] : [{ ours, values: [secondsOf(ours), secondsOf(theirs)] as const }];
  });
  if (pairs.length === 0) return [where, undefined, undefined];
  const [a, b] = [mean(pairs.map(({ values }) => values[0])), mean(pairs.map(({ values }) => values[1]))];
  const isGivenUp = pairs.some(({ ours }) => !ours.isReached);
  return [where, a, b, isGivenUp, pairs.map(({ values }) => values[0] / values[1])];
}

/** A run that did not reach its target counts as twice its length. */
function secondsOf({ seconds, isReached }: Run): number {
  return isReached ? seconds : NOT_REACHED * seconds;
}

export const NOT_REACHED = 2;

/** Returns the mean, with the deviation if there are several seeds, or "more than the cap". */
export function shown(found: Found | undefined): string {
  if (found === undefined) return '';
  const { seconds, deviation: spread, seeds, isReached } = found;
  const text = `${seconds.toFixed(1)}${seeds > 1 ? ` ± ${spread.toFixed(1)}` : ''}`;
  return isReached ? text : `> ${text}`;
}

export function betaOf({ delay }: Cell): number {
  return meanOf(delay);
}

/** One row of a results file. */
export function rowOf(experiment: string, result: CellResult): Readonly<Record<string, string | number | boolean>> {
  const { cell } = result;
  return {
    experiment,
    dataset: cell.task.dataset,
    protocol: lineOf(cell),
    beta: betaOf(cell),
    concurrency: cell.concurrency,
    bufferSize: cell.bufferSize,
    seed: cell.seed,
    arrivals: cell.arrivals.kind,
    places: String(cell.places ?? 4 * cell.bufferSize),
    versions: isOneVersion(cell) ? 'one' : 'mixed',
    dropouts: cell.dropouts,
    virtualSeconds: round(result.seconds),
    aggregations: result.versions,
    secondsPerAggregation: round(result.secondsPerVersion),
    trips: result.trips,
    lost: result.lost,
    droppedOut: result.droppedOut,
    meanStaleness: round(result.meanStaleness),
    meanAge: round(result.meanAge),
    ...Object.fromEntries(Object.entries(result.utilisation).map(([name, share]) => [`busy ${name}`, round(share)])),
    finalAccuracy: round(result.trained.wholeAccuracy),
    partySums: result.trained.partySums,
    reached: result.isReached,
    trajectory: result.trajectory,
  };
}

/** Returns notes about the networks, and about data that differs from the paper's. */
export function dataNotes(tasks: readonly ExperimentTask[]): readonly string[] {
  return [
    ...tasks.map(
      ({ charged, dimension, ...task }) =>
        `${titleOf(task)} is learned by the paper's network: ${charged}, ${dimension.toLocaleString('en')} parameters.`,
    ),
    ...(tasks.some(({ dataset, leaf }) => dataset === 'FEMNIST' && leaf === undefined)
      ? ['FEMNIST is a synthetic stand-in drawn with handwriting fonts, not the LEAF data (--leaf takes those).']
      : []),
  ];
}

export function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
