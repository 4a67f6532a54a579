/** Accuracy by virtual time of each protocol, for one delay and the first seed. */

import type { Figure } from '@basa/simulator/virtual-time';
import type { CellResult } from '../run/grid.ts';
import { FIRST_SEED } from '../tasks/tasks.ts';
import { betaOf } from './protocol-cells.ts';
import { lineOf } from './racers.ts';

/** The maximum number of points that fit into a figure. */
const MAX_POINTS = 80;

export function learningCurves(name: string, title: string, results: readonly CellResult[], beta: number): Figure {
  const here = results.filter(({ cell }) => cell.seed === FIRST_SEED && betaOf(cell) === beta);
  return {
    name,
    title,
    x: 'virtual seconds',
    y: 'accuracy',
    isWithoutMarks: true,
    series: here.map(({ cell, curve }) => {
      const every = Math.max(1, Math.ceil(curve.length / MAX_POINTS));
      return {
        name: lineOf(cell),
        points: curve.filter((_, n) => n % every === 0 || n === curve.length - 1).map(([s, a]) => [s, a] as const),
      };
    }),
  };
}
