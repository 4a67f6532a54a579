/** Runs studies and writes their results: a CSV and a JSON file each, one page for all, and every figure as an SVG file. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { csvOf } from '@basa/learning/files';
import {
  allNeeds,
  type Costs,
  figureSvg,
  isSynchronous,
  measureCosts,
  type Sampling,
} from '@basa/simulator/virtual-time';
import { type Changes, type ChosenRates, changed } from '../cells/changes.ts';
import { reportHtml } from '../report/html.ts';
import { corrected, type Outcome } from '../report/outcome.ts';
import { claimsOf } from '../report/summary.ts';
import { type Cell, FIRST_SEED, modelOf } from '../tasks/tasks.ts';
import { TrainedStore } from '../training/trained-store.ts';
import { needsOfCells, type Profile, type Study, type TrainingRun } from './context.ts';
import { Grid } from './grid.ts';

export interface RunOptions extends TrainingRun {
  readonly profile: Profile;
  /** Changes to the usual grids. */
  readonly changes?: Changes;
  /** Choose rates and train. A later run reports the finished trainings. */
  readonly isTrainingOnly?: boolean;
  /**
   * Write the required trainings into this folder for lab/gpu/train.py instead of training. While rates are not chosen yet, only their
   * trainings are written.
   */
  readonly ordersFolder?: string | undefined;
  /** Use the costs of another run or machine instead of measuring them. */
  readonly costsFile?: string | undefined;
  /** No further training begins after this number of minutes. */
  readonly minutes?: number | undefined;
  readonly sampling: Sampling;
  readonly date: string;
  /** The command line that the page shows. */
  readonly command?: string | undefined;
  onMeasure(what: string): void;
}

/** All studies share one queue of trainings, the most important first. Then each study is reported from the finished trainings. */
export async function runStudies(studies: readonly Study[], options: RunOptions): Promise<readonly Outcome[]> {
  const { folder, profile, minutes, ordersFolder } = options;
  const isTrainingOnly = options.isTrainingOnly === true || ordersFolder !== undefined;
  mkdirSync(folder, { recursive: true });
  const began = performance.now();
  const costs = await measureFor(studies, options);
  const grid = new Grid({
    costs,
    store: new TrainedStore(join(folder, 'trained.jsonl')),
    workers: options.workers,
    partiesEvery: partiesEvery(profile),
    msLeft: minutes === undefined ? undefined : () => 60_000 * minutes - (performance.now() - began),
    signal: options.signal,
    onProgress: options.onProgress,
  });
  const outcomes: Outcome[] = [];
  // The rates are chosen first, because the trainings of the other studies depend on them.
  for (const stage of [studies.filter(isChoosing), studies.filter((study) => !isChoosing(study))]) {
    const changes = { rates: readRates(folder), ...options.changes };
    const wanted = (cells: readonly Cell[]): readonly Cell[] => changed(cells, changes).filter(isWanted(options));
    const ranked = stage.flatMap((study, n) =>
      wanted(study.cells(profile)).map((cell) => ({ cell, rank: rankOf(cell, n) })),
    );
    if (ordersFolder !== undefined) {
      const written = await grid.writeOrders(ranked, ordersFolder);
      if (written > 0) return [];
    } else if (options.onlyFinished !== true) await grid.train(ranked);
    if (isTrainingOnly && !stage.some(isChoosing)) continue;
    for (const study of stage) {
      const results = (cells: readonly Cell[]) => grid.results(wanted(cells));
      const outcome = await study.run({ profile, costs, results, own: options });
      writeRates(folder, outcome);
      outcomes.push(outcome);
    }
  }
  if (isTrainingOnly) return [];
  const judged = corrected(outcomes);
  for (const outcome of judged) writeOutcome(folder, outcome);
  writeReport(folder, judged, costs, options.command);
  return judged;
}

/** Measures all costs that the studies need, before anything else runs. Costs that the folder already has are not measured again. */
export async function measureFor(
  studies: readonly Study[],
  { folder, profile, costsFile, changes, sampling, date, onMeasure: step }: MeasureRun,
): Promise<Costs> {
  mkdirSync(folder, { recursive: true });
  const own = join(folder, 'costs.json');
  const known = costsFile !== undefined ? readCosts(costsFile) : existsSync(own) ? readCosts(own) : undefined;
  const keep = (costs: Costs): void => writeWhole(own, `${JSON.stringify(costs)}\n`);
  const needs = allNeeds(
    studies.flatMap((study) => [study.needs(profile), needsOfCells(changed(study.cells(profile), changes))]),
  );
  const costs = await measureCosts(needs, { sampling, known, modelOf, date, step }, keep);
  keep(costs);
  return costs;
}

export type MeasureRun = Pick<
  RunOptions,
  'folder' | 'profile' | 'costsFile' | 'changes' | 'sampling' | 'date' | 'onMeasure'
>;

function isWanted({ datasets, seeds = Number.POSITIVE_INFINITY }: RunOptions): (cell: Cell) => boolean {
  return ({ task, seed }) =>
    seed < FIRST_SEED + seeds &&
    (datasets === undefined || datasets.includes(task.dataset) || datasets.includes(task.learn));
}

function isChoosing({ name }: Study): boolean {
  return name === 'rates';
}

/**
 * Short trainings go first, then the longest ones; then the first seed of every study before the second of any.
 * Variants that few claims are about come last.
 */
function rankOf(cell: Cell, study: number): number {
  const { task, protocol, seed, concurrency, arrivals } = cell;
  if (task.dataset === 'MNIST') return 0.02 * (seed - FIRST_SEED) + 0.01 * study - 0.6;
  const isLong = isSynchronous(cell) && concurrency >= 100;
  const isBeside = protocol === 'LSA async' || arrivals.kind !== 'closed';
  return seed - FIRST_SEED + 0.2 * study - (isLong ? 1 : 0) + (isBeside ? 0.4 : 0);
}

/** For small models, running the real parties is the slowest part. For large models, it takes almost no time compared with the training. */
function partiesEvery(profile: Profile): (cell: Cell) => number {
  return ({ concurrency }) => (profile === 'smoke' ? 3 : 10) * (concurrency > 100 ? 10 : 1);
}

/** The costs of hundreds of users are a megabyte of JSON, and a tenth of that as `.gz`. */
function readCosts(file: string): Partial<Costs> {
  const bytes = readFileSync(file);
  return JSON.parse((file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')) as Partial<Costs>;
}

/** The page shows every study in the folder, in the order of their first run. */
function writeReport(folder: string, fresh: readonly Outcome[], costs: Costs, command: string | undefined): void {
  const names = join(folder, 'studies.json');
  const kept = existsSync(names) ? (JSON.parse(readFileSync(names, 'utf8')) as string[]) : [];
  const all = [...new Set([...kept, ...fresh.map(({ experiment }) => experiment)])];
  writeWhole(names, `${JSON.stringify(all)}\n`);
  const outcomes = all.map((name) => fresh.find(({ experiment }) => experiment === name) ?? readOutcome(folder, name));
  writeWhole(join(folder, 'report.html'), reportHtml(outcomes, costs, command));
  writeWhole(join(folder, 'claims.json'), `${JSON.stringify(claimsOf(outcomes), null, 1)}\n`);
  writeWhole(join(folder, 'costs.json.gz'), gzipSync(JSON.stringify(costs)));
}

/** The rates that the study "rates" chose in this folder, if it was run. */
function readRates(folder: string): ChosenRates | undefined {
  const file = ratesFile(folder);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ChosenRates) : undefined;
}

function writeRates(folder: string, { rates }: Outcome): void {
  if (rates !== undefined) writeWhole(ratesFile(folder), `${JSON.stringify(rates, null, 1)}\n`);
}

function ratesFile(folder: string): string {
  return join(folder, 'chosen-rates.json');
}

function readOutcome(folder: string, name: string): Outcome {
  return JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as Outcome;
}

function writeOutcome(folder: string, outcome: Outcome): void {
  writeWhole(join(folder, `${outcome.experiment}.json`), `${JSON.stringify(outcome)}\n`);
  writeWhole(join(folder, `${outcome.experiment}.csv`), csvOf(outcome.rows));
  for (const figure of outcome.figures) writeWhole(join(folder, `${figure.name}.svg`), figureSvg(figure));
}

function writeWhole(file: string, content: string | Uint8Array): void {
  writeFileSync(`${file}.part`, content);
  renameSync(`${file}.part`, file);
}
