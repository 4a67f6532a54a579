/** The results of a simulation: a table and a plot for people, a CSV, a picture and the model as files. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type * as Learning from '@basa/learning';
import type { Model } from '@basa/learning';
import type { OwnRun, SimulatedVersion } from '@basa/virtual-time';
import { percent, plot, table } from '../shell/terminal.ts';

/** More points of a line than this cannot be distinguished. */
const MAX_POINTS = 40;

export async function writeSimulation(folder: string, model: Model, runs: readonly OwnRun[]): Promise<void> {
  const { figureSvg } = await import('@basa/virtual-time');
  const { encodeSafetensors } = await import('@basa/learning');
  const { csvOf } = await import('@basa/learning/files');
  const series = runs.map(({ protocol, curve }) => {
    const every = Math.ceil(curve.length / MAX_POINTS);
    const shown = curve.filter((_, n) => n % every === 0 || n === curve.length - 1);
    return { name: protocol, points: shown.map(({ seconds, score }) => [seconds, shownOf(score)] as const) };
  });
  const name = scoreNameOf(runs);
  const y = name === ACCURACY ? `${name}, %` : name;
  const figure = { name, title: model.name, x: 'virtual seconds', y, series };
  const rows = runs.flatMap(({ curve }) => curve.map(flatVersion));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'curve.csv'), csvOf(rows));
  await writeFile(join(folder, `${name}.svg`), figureSvg(figure));
  const last = runs.at(-1);
  if (last !== undefined) await writeFile(join(folder, 'model.safetensors'), encodeSafetensors(model, last.parameters));
}

export function simulationTable(runs: readonly OwnRun[], scoreText: typeof Learning.scoreText): string {
  const rows = runs.map(({ protocol, curve, trips, droppedOut, meanAge, partySums, versionsInASum }) => {
    const last = curve.at(-1);
    return [
      protocol,
      String(curve.length),
      last === undefined ? '-' : scoreText(last.score),
      last?.loss.toFixed(4) ?? '-',
      `${(last?.seconds ?? 0).toFixed(1)} s`,
      meanAge.toFixed(2),
      versionsInASum,
      `${droppedOut} of ${trips}`,
      String(partySums),
    ];
  });
  const measures = [
    'versions',
    scoreNameOf(runs),
    'loss',
    'virtual time',
    'mean age',
    'versions in a sum',
    'dropped out',
    'sums by parties',
  ];
  return table([['protocol', ...measures], ...rows]);
}

/** The plot of the last protocol, with the target as a line. */
export function simulationPlot(runs: readonly OwnRun[], target: number | undefined): string {
  const name = scoreNameOf(runs);
  const course = runs.at(-1)?.curve.map(({ score }) => score.value) ?? [];
  const isShare = name === ACCURACY || name === 'r2';
  // A user's own scores may have any range: the plot goes from the smallest to the largest.
  const [low, high] = isShare ? [0, 1] : [Math.min(...course), Math.max(...course)];
  const scaled = (value: number): number => (high > low ? (value - low) / (high - low) : 0);
  const label = (share: number): string => {
    const value = low + share * (high - low);
    return name === ACCURACY ? percent(value) : value.toPrecision(3);
  };
  const mark = scaled(target ?? course.at(-1) ?? low);
  return `${name} by version, ${runs.at(-1)?.protocol}:\n${plot(course.map(scaled), { mark, label })}`;
}

const ACCURACY = 'accuracy';

/** All protocols train the same model: their versions have the same score. */
export function scoreNameOf(runs: readonly OwnRun[]): string {
  return runs.flatMap(({ curve }) => curve)[0]?.score.name ?? ACCURACY;
}

/** The score as an additional column with the name of the score. */
export function flatVersion({ protocol, version, seconds, score, ...rest }: SimulatedVersion) {
  return { protocol, version, seconds, [score.name]: score.value, ...rest };
}

function shownOf({ name, value }: SimulatedVersion['score']): number {
  return name === ACCURACY ? 100 * value : value;
}
