/** Seconds to the target along one axis, one line for each protocol. */

import { type Figure, isSynchronous } from '@basa/simulator/virtual-time';
import { type Ordering, ordering, type Pair, type Table } from '../report/outcome.ts';
import type { CellResult } from '../run/grid.ts';
import type { Cell } from '../tasks/tasks.ts';
import { betaOf, type Found, overPoints, overSeeds, pairOf, shown } from './protocol-cells.ts';
import { lineOf, type Racer } from './racers.ts';

interface Axis {
  readonly x: string;
  readonly of: (cell: Cell) => number;
}

export function lineTable(
  title: string,
  results: readonly CellResult[],
  dataset: string,
  protocols: readonly Racer[],
  { x, of }: Axis,
): Table {
  const places = placesOf(results, dataset, of);
  return {
    title,
    groups: [{ title: '', columns: 1 }, ...protocols.map((protocol) => ({ title: protocol, columns: 3 }))],
    columns: [x, ...protocols.flatMap(() => ['seconds', 'versions', 'age'])],
    rows: places.map((place) => [
      `${place}`,
      ...protocols.flatMap((protocol) => {
        const found = at(results, dataset, protocol, place, of);
        return [shown(found), found?.versions.toFixed(0) ?? '', found?.meanAge.toFixed(1) ?? ''];
      }),
    ]),
  };
}

export function lineFigure(
  name: string,
  title: string,
  results: readonly CellResult[],
  dataset: string,
  protocols: readonly Racer[],
  { x, of }: Axis,
): Figure {
  const places = placesOf(results, dataset, of);
  return {
    name,
    title,
    x,
    y: 'virtual seconds to the target',
    series: protocols.map((protocol) => ({
      name: protocol,
      points: places.flatMap((place) => {
        const found = at(results, dataset, protocol, place, of);
        return found === undefined || !found.isReached ? [] : [[place, found.seconds, found.deviation] as const];
      }),
    })),
  };
}

/** Claims that the first protocol takes at most `factor` times as long as the second, at every point of every dataset. */
export function lineOrderings(
  claim: string,
  results: readonly CellResult[],
  [left, right]: readonly [Racer, Racer],
  of: (cell: Cell) => number,
  factor = 1,
): Ordering {
  const datasets = [...new Set(results.map(({ cell }) => cell.task.dataset))];
  const pairs = datasets.flatMap((dataset) =>
    placesOf(results, dataset, of).map((place) =>
      pairOf(`${dataset}, ${place}`, at(results, dataset, left, place, of), at(results, dataset, right, place, of)),
    ),
  );
  return ordering(claim, pairs, factor);
}

/**
 * Claims that the first protocol takes at most `factor` times as long as the second, in the mean over all points of each dataset. The points
 * of one seed are averaged, because the time of a single training varies by more than such a factor.
 */
export function meanOrdering(
  claim: string,
  results: readonly CellResult[],
  [left, right]: readonly [Racer, Racer],
  of: (cell: Cell) => number,
  factor = 1,
): Ordering {
  const datasets = [...new Set(results.map(({ cell }) => cell.task.dataset))];
  const pairs = datasets.map((dataset) => {
    const places = placesOf(results, dataset, of);
    const meanOf = (line: Racer) => overPoints(places.map((place) => at(results, dataset, line, place, of)));
    return pairOf(`${dataset}, mean of ${places.length} points`, meanOf(left), meanOf(right));
  });
  return ordering(claim, pairs, factor);
}

/** Claims that a protocol takes at least as much time at each point as at the previous one. */
export function fasterWithLess(
  claim: string,
  results: readonly CellResult[],
  protocol: Racer,
  of: (cell: Cell) => number,
): Ordering {
  const datasets = [...new Set(results.map(({ cell }) => cell.task.dataset))];
  const pairs = datasets.flatMap((dataset) => {
    const places = placesOf(results, dataset, of);
    return places.slice(1).map((place, n) => {
      const before = places[n] as number;
      return pairOf(
        `${dataset}, ${before} and ${place}`,
        at(results, dataset, protocol, before, of),
        at(results, dataset, protocol, place, of),
      );
    });
  });
  return ordering(claim, pairs);
}

/** Only asynchronous runs, because a round has no age. */
export function reachedClaim(claim: string, results: readonly CellResult[]): Ordering {
  const pairs = results
    .filter(({ cell }) => !isSynchronous(cell))
    .map(({ cell, isReached }): Pair => {
      const { concurrency, seed, task } = cell;
      return [
        `${task.dataset}, ${lineOf(cell)}, beta ${betaOf(cell)}, ${concurrency} users, seed ${seed}`,
        isReached ? 0 : 1,
        0,
      ];
    });
  return ordering(claim, pairs);
}

function placesOf(results: readonly CellResult[], dataset: string, of: (cell: Cell) => number): readonly number[] {
  const here = results.filter(({ cell }) => cell.task.dataset === dataset).map(({ cell }) => of(cell));
  return [...new Set(here)].sort((a, b) => a - b);
}

function at(
  results: readonly CellResult[],
  dataset: string,
  protocol: Racer,
  place: number,
  of: (cell: Cell) => number,
): Found | undefined {
  return overSeeds(results, (cell) => cell.task.dataset === dataset && lineOf(cell) === protocol && of(cell) === place);
}
