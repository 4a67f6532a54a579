/** Many cells: scheduled, trained once for each order, priced each for itself. What was trained is kept in files. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createWorkerPool, workerModule } from '@basa/runtime/node';
import type { Cell, TimedSchedule } from './cell.ts';
import { isSynchronous, scheduleCell } from './cell.ts';
import type { Costs } from './costs/costs.ts';
import { openTask } from './learning-tasks.ts';
import type { Trained } from './train-order.ts';
import type { TrainJob } from './train-worker.ts';
import { orderDigest } from './trajectory.ts';

export interface GridOptions {
  readonly costs: Costs;
  /** Where finished trainings are kept; a later run goes on from there. */
  readonly folder: string;
  readonly workers: number;
  /** Real parties sum every so many versions. */
  readonly partiesEvery: (cell: Cell) => number;
  /** Leave out what was not trained yet, instead of training it. */
  readonly onlyFinished: boolean;
  readonly signal: AbortSignal;
  onProgress?(progress: GridProgress): void;
}

/** Of the updates that have to be trained. */
export interface GridProgress {
  readonly done: number;
  readonly all: number;
}

export interface CellResult {
  readonly cell: Cell;
  /** Until the target; of the whole run where it was not reached. */
  readonly seconds: number;
  readonly versions: number;
  readonly isReached: boolean;
  readonly secondsPerVersion: number;
  readonly trips: number;
  readonly lost: number;
  readonly droppedOut: number;
  readonly meanStaleness: number;
  readonly meanAge: number;
  readonly utilisation: Readonly<Record<string, number>>;
  readonly trained: Trained;
  /** Names what was trained: cells with the same name share it. */
  readonly trajectory: string;
}

export async function runGrid(cells: readonly Cell[], options: GridOptions): Promise<readonly CellResult[]> {
  const examples = await examplesBySeed(cells);
  const { costs, folder, onlyFinished } = options;
  const planned = cells
    .map((cell) => {
      const schedule = scheduleCell(cell, costs, examples(cell));
      return { cell, schedule, job: jobOf(cell, schedule, options) };
    })
    .filter(({ job }) => !onlyFinished || existsSync(fileOf(folder, job.name)));
  const jobs = mergeJobs(planned.map(({ job }) => job));
  const trained = await trainAll(jobs, options);
  return planned.map(({ cell, schedule, job }) => {
    const result = trained.get(job.name) as Trained;
    return { cell, ...priceOf(schedule, result), trained: result, trajectory: job.name };
  });
}

interface NamedJob {
  readonly name: string;
  readonly job: TrainJob;
  readonly updates: number;
}

/** A version of so many updates is shared among threads. */
const WIDE = 60;

function jobOf(cell: Cell, { order }: TimedSchedule, { partiesEvery, workers }: GridOptions): NamedJob {
  const { task, seed, protocol, ringBits } = cell;
  const step = isSynchronous(cell) ? task.step.rounds : task.step.buffers;
  const level = protocol === 'no SA' || cell.level === Number.POSITIVE_INFINITY ? undefined : cell.level;
  const { mostExamples, target, learn } = task;
  return {
    name: orderDigest(
      order,
      learn,
      seed,
      mostExamples,
      target,
      step.rate,
      step.momentum,
      quantiserName(level, ringBits),
    ),
    updates: order.reduce((sum, version) => sum + version.length, 0),
    job: {
      order,
      seed,
      mostExamples,
      step,
      level,
      ringBits,
      target,
      task: learn,
      protocols: protocol === 'no SA' ? [] : [protocol],
      partiesEvery: partiesEvery(cell),
      threads: order.some(({ length }) => length >= WIDE) ? workers : 1,
    },
  };
}

function quantiserName(level: number | undefined, ringBits: number | undefined): number | string {
  return ringBits === undefined ? (level ?? 'floats') : `${level} in ${ringBits} bits`;
}

/** One training for each name, with the parties of every protocol that has it; tasks one after the other. */
function mergeJobs(jobs: readonly NamedJob[]): readonly NamedJob[] {
  const merged = new Map<string, NamedJob>();
  for (const named of jobs) {
    const { job } = merged.get(named.name) ?? named;
    const protocols = [...new Set([...job.protocols, ...named.job.protocols])];
    merged.set(named.name, { ...named, job: { ...job, protocols } });
  }
  const place = ({ job }: NamedJob): string => `${job.task} ${String(job.seed).padStart(6, '0')}`;
  return [...merged.values()].sort((a, b) => place(a).localeCompare(place(b)) || b.updates - a.updates);
}

async function trainAll(jobs: readonly NamedJob[], options: GridOptions): Promise<ReadonlyMap<string, Trained>> {
  const { folder, onProgress = () => {}, signal, workers } = options;
  mkdirSync(folder, { recursive: true });
  const trained = new Map<string, Trained>();
  const open = jobs.filter(({ name }) => {
    const kept = readTrained(folder, name);
    if (kept !== undefined) trained.set(name, kept);
    return kept === undefined;
  });
  const all = open.reduce((sum, { updates }) => sum + updates, 0);
  let done = 0;
  if (open.length === 0) return trained;
  const pool = createWorkerPool<TrainJob, Trained>({
    ...workerModule(import.meta.url, './train-worker'),
    size: Math.min(workers, open.length),
  });
  const stop = (): void => void pool.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    onProgress({ done, all });
    await Promise.all(
      open.map(async ({ name, job, updates }) => {
        const result = await pool.run(job);
        writeTrained(folder, name, result);
        trained.set(name, result);
        done += updates;
        onProgress({ done, all });
      }),
    );
  } finally {
    signal.removeEventListener('abort', stop);
    await pool.close();
  }
  return trained;
}

function priceOf(schedule: TimedSchedule, { reached }: Trained): Omit<CellResult, 'cell' | 'trained' | 'trajectory'> {
  const { times, trips, lost, droppedOut, meanStaleness, meanAge, utilisation } = schedule;
  const versions = reached ?? times.length;
  return {
    seconds: times[versions - 1] ?? 0,
    versions,
    isReached: reached !== undefined,
    secondsPerVersion: (times.at(-1) ?? 0) / times.length,
    trips,
    lost,
    droppedOut,
    meanStaleness,
    meanAge,
    utilisation,
  };
}

async function examplesBySeed(cells: readonly Cell[]): Promise<(cell: Cell) => (user: number) => number> {
  const counts = new Map<string, Uint32Array>();
  const nameOf = ({ task, seed }: Cell): string => `${task.learn} ${seed}`;
  for (const cell of cells) {
    if (counts.has(nameOf(cell))) continue;
    const { countOf, users } = await openTask(cell.task.learn, cell.seed);
    counts.set(
      nameOf(cell),
      Uint32Array.from({ length: users }, (_, user) => countOf(user)),
    );
  }
  return (cell) => (user) => counts.get(nameOf(cell))?.[user] ?? 0;
}

function fileOf(folder: string, name: string): string {
  return join(folder, `${name}.json`);
}

function readTrained(folder: string, name: string): Trained | undefined {
  const file = fileOf(folder, name);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Trained) : undefined;
}

/** Under another name first: a file that is there is whole. */
function writeTrained(folder: string, name: string, trained: Trained): void {
  const file = fileOf(folder, name);
  writeFileSync(`${file}.part`, JSON.stringify(trained));
  renameSync(`${file}.part`, file);
}
