/** What a simulation leaves behind: a table and a plot for people, a CSV, a picture and the model as files. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Model } from '@basa/learning';
import type { OwnRun } from '@basa/virtual-time';
import { counted, percent, plot, table } from '../shell/terminal.ts';

/** More points of a line than this cannot be told apart. */
const MAX_POINTS = 40;

export async function writeSimulation(folder: string, model: Model, runs: readonly OwnRun[]): Promise<void> {
  const { figureSvg } = await import('@basa/virtual-time');
  const { encodeSafetensors } = await import('@basa/learning');
  const { csvOf } = await import('@basa/learning/files');
  const series = runs.map(({ protocol, curve }) => {
    const every = Math.ceil(curve.length / MAX_POINTS);
    const shown = curve.filter((_, n) => n % every === 0 || n === curve.length - 1);
    return { name: protocol, points: shown.map(({ seconds, accuracy }) => [seconds, 100 * accuracy] as const) };
  });
  const figure = { name: 'accuracy', title: model.name, x: 'virtual seconds', y: 'accuracy, %', series };
  const rows = runs.flatMap(({ curve }) => curve.map((version) => ({ ...version })));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'curve.csv'), csvOf(rows));
  await writeFile(join(folder, 'accuracy.svg'), figureSvg(figure));
  const last = runs.at(-1);
  if (last !== undefined) await writeFile(join(folder, 'model.safetensors'), encodeSafetensors(model, last.parameters));
}

export function simulationTable(runs: readonly OwnRun[]): string {
  const rows = runs.map(({ protocol, curve, trips, droppedOut, meanAge, partySums }) => {
    const last = curve.at(-1);
    return [
      protocol,
      String(curve.length),
      percent(last?.accuracy),
      (last?.loss ?? Number.NaN).toFixed(4),
      `${(last?.seconds ?? 0).toFixed(1)} s`,
      meanAge.toFixed(2),
      `${droppedOut} of ${trips}`,
      String(partySums),
    ];
  });
  const measures = ['versions', 'accuracy', 'loss', 'virtual time', 'mean age', 'dropped out', 'sums by its parties'];
  return table([['protocol', ...measures], ...rows]);
}

/** As devices say it, which wait for a newer version then. */
export function nothingNewSentence({ protocol, nothingNew, isConverged, curve }: OwnRun): string {
  const told = `${protocol}: ${counted(nothingNew, 'update')} had nothing new to contribute (zero, or the same as before)`;
  return isConverged ? `${told}, and fewer than two were left after version ${curve.length}: the run ends there` : told;
}

/** Of the last protocol, with the target across. */
export function simulationPlot(runs: readonly OwnRun[], target: number | undefined): string {
  const course = runs.at(-1)?.curve.map(({ accuracy }) => accuracy) ?? [];
  const mark = target ?? course.at(-1) ?? 0;
  return `accuracy by version, ${runs.at(-1)?.protocol}:\n${plot(course, { mark, label: percent })}`;
}
