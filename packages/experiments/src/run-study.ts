/** Runs studies and writes what they found: CSV and JSON each, one page for all, every figure as a picture. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { csvOf } from '@basa/learning/files';
import type { Cell } from './cell.ts';
import type { Profile, Study } from './context.ts';
import type { Costs } from './costs/costs.ts';
import { allNeeds, measureCosts } from './costs/needs.ts';
import type { Sampling } from './costs/sampling.ts';
import type { CellResult, GridProgress } from './grid.ts';
import { runGrid } from './grid.ts';
import type { Outcome } from './outcome.ts';

import { reportHtml } from './report/html.ts';
import { figureSvg } from './report/svg.ts';

export interface RunOptions {
  readonly profile: Profile;
  readonly folder: string;
  readonly workers: number;
  /** Only some of the cells: these datasets, and the first so many seeds. The rest is left for a later run. */
  readonly datasets?: readonly string[] | undefined;
  readonly seeds?: number | undefined;
  /** Report what earlier runs finished, and train nothing. */
  readonly onlyFinished?: boolean;
  /** Costs of another run or machine, instead of measuring. */
  readonly costsFile?: string | undefined;
  readonly sampling: Sampling;
  readonly date: string;
  readonly signal: AbortSignal;
  onMeasure(what: string): void;
  onProgress(study: string, progress: GridProgress): void;
}

export async function runStudies(studies: readonly Study[], options: RunOptions): Promise<readonly Outcome[]> {
  const { folder, profile } = options;
  mkdirSync(folder, { recursive: true });
  const costs = await costsFor(studies, options);
  const outcomes: Outcome[] = [];
  for (const study of studies) {
    const train = (cells: readonly Cell[]): Promise<readonly CellResult[]> =>
      runGrid(cells.filter(isWanted(options)), {
        costs,
        folder: join(folder, 'trained'),
        workers: options.workers,
        partiesEvery: partiesEvery(profile),
        onlyFinished: options.onlyFinished ?? false,
        signal: options.signal,
        onProgress: (progress) => options.onProgress(study.name, progress),
      });
    const own = {
      folder,
      workers: options.workers,
      seeds: options.seeds ?? Number.POSITIVE_INFINITY,
      isWanted: (dataset: string) => options.datasets === undefined || options.datasets.includes(dataset),
      onlyFinished: options.onlyFinished ?? false,
      signal: options.signal,
      onProgress: (progress: GridProgress) => options.onProgress(study.name, progress),
    };
    const outcome = await study.run({ profile, costs, train, own });
    writeOutcome(folder, outcome);
    outcomes.push(outcome);
  }
  writeWhole(join(folder, 'report.html'), reportHtml(keptOutcomes(folder, outcomes), costs));
  return outcomes;
}

function isWanted({ datasets, seeds = Number.POSITIVE_INFINITY }: RunOptions): (cell: Cell) => boolean {
  return ({ task, seed }) => seed <= seeds && (datasets === undefined || datasets.includes(task.dataset));
}

/** Real parties are the slow part of small models and nothing beside the training of large ones. */
function partiesEvery(profile: Profile): (cell: Cell) => number {
  return ({ level, ringBits, concurrency }) => {
    // No policy allows such a level, floats have no parties, and the parties here sum in the field.
    if (level > 2 ** 16 || ringBits !== undefined) return Number.POSITIVE_INFINITY;
    return (profile === 'smoke' ? 3 : 10) * (concurrency > 100 ? 10 : 1);
  };
}

async function costsFor(studies: readonly Study[], options: RunOptions): Promise<Costs> {
  const { folder, profile, costsFile, sampling, date, onMeasure: step } = options;
  const own = join(folder, 'costs.json');
  const known = costsFile !== undefined ? readCosts(costsFile) : existsSync(own) ? readCosts(own) : undefined;
  const keep = (costs: Costs): void => writeWhole(own, `${JSON.stringify(costs)}\n`);
  const needs = allNeeds(studies.map((study) => study.needs(profile)));
  const costs = await measureCosts(needs, { sampling, known, date, step }, keep);
  keep(costs);
  return costs;
}

/** Costs of hundreds of users are a megabyte of JSON; as `.gz` they are a tenth of it. */
function readCosts(file: string): Costs {
  const bytes = readFileSync(file);
  return JSON.parse((file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')) as Costs;
}

/** The page shows every study that was run into the folder, in the order they were asked for first. */
function keptOutcomes(folder: string, fresh: readonly Outcome[]): readonly Outcome[] {
  const names = join(folder, 'studies.json');
  const kept = existsSync(names) ? (JSON.parse(readFileSync(names, 'utf8')) as string[]) : [];
  const all = [...new Set([...kept, ...fresh.map(({ experiment }) => experiment)])];
  writeWhole(names, `${JSON.stringify(all)}\n`);
  return all.map(
    (name) =>
      fresh.find(({ experiment }) => experiment === name) ??
      (JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as Outcome),
  );
}

function writeOutcome(folder: string, outcome: Outcome): void {
  writeWhole(join(folder, `${outcome.experiment}.json`), `${JSON.stringify(outcome, null, 1)}\n`);
  writeWhole(join(folder, `${outcome.experiment}.csv`), csvOf(outcome.rows));
  for (const figure of outcome.figures) writeWhole(join(folder, `${figure.name}.svg`), figureSvg(figure));
}

function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.part`, text);
  renameSync(`${file}.part`, file);
}
