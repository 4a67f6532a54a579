/** Runs many cells: schedules them, trains each order of updates once, and computes the costs of each cell. */

import { type Costs, scheduleCell, type TimedSchedule, type Trained } from '@basa/simulator/virtual-time';
import { openTask } from '../tasks/learning-tasks.ts';
import type { Cell } from '../tasks/tasks.ts';
import { jobOf, mergeJobs, type NamedJob } from '../training/train-plan.ts';
import { type QueueOptions, trainAll } from '../training/train-queue.ts';
import { writeOrders } from '../training/write-orders.ts';

export interface GridOptions extends QueueOptions {
  readonly costs: Costs;
  /** Real parties compute the sum once in this number of versions. */
  readonly partiesEvery: (cell: Cell) => number;
}

export interface CellResult {
  readonly cell: Cell;
  /** The time to the target, or of the whole run if the target was not reached. */
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
  /** Accuracy by virtual seconds. */
  readonly curve: readonly (readonly [seconds: number, accuracy: number])[];
  /** The name of the training. Cells with the same name share it. */
  readonly trajectory: string;
}

export interface RankedCell {
  readonly cell: Cell;
  /** Cells with a smaller number are trained first. */
  readonly rank: number;
}

interface Planned {
  readonly schedule: TimedSchedule;
  readonly named: NamedJob;
}

/** Schedules each cell only once. */
export class Grid {
  readonly #options: GridOptions;
  readonly #planned = new Map<string, Planned>();
  /** By cell without its rates, on which no schedule depends. */
  readonly #schedules = new Map<string, TimedSchedule>();
  readonly #examples = new Map<string, Uint32Array>();

  constructor(options: GridOptions) {
    this.#options = options;
  }

  /** The trainings that these cells need, the most important first. */
  async plan(cells: readonly RankedCell[]): Promise<readonly NamedJob[]> {
    const jobs: NamedJob[] = [];
    for (const { cell, rank } of cells) jobs.push({ ...(await this.#plan(cell)).named, rank });
    return mergeJobs(jobs);
  }

  async train(cells: readonly RankedCell[]): Promise<void> {
    await trainAll(await this.plan(cells), this.#options);
  }

  /** Returns the number of orders that are still open, and of those that were written. */
  async writeOrders(cells: readonly RankedCell[], folder: string): Promise<number> {
    return writeOrders(await this.plan(cells), { folder, store: this.#options.store });
  }

  /** The cells whose training is finished. */
  async results(cells: readonly Cell[]): Promise<readonly CellResult[]> {
    const results: CellResult[] = [];
    for (const cell of cells) {
      const { schedule, named } = await this.#plan(cell);
      const trained = this.#options.store.get(named.name);
      if (trained !== undefined) results.push({ cell, ...priceOf(schedule, trained), trained, trajectory: named.name });
    }
    return results;
  }

  async #plan(cell: Cell): Promise<Planned> {
    const key = JSON.stringify(cell);
    const known = this.#planned.get(key);
    if (known !== undefined) return known;
    const { step: _, learningRate: __, ...timed } = cell.task;
    const timedKey = JSON.stringify({ ...cell, task: timed });
    const schedule =
      this.#schedules.get(timedKey) ?? scheduleCell(cell, this.#options.costs, await this.#examplesOf(cell));
    this.#schedules.set(timedKey, schedule);
    const planned = { schedule, named: jobOf(cell, schedule, this.#options.partiesEvery(cell), 0) };
    this.#planned.set(key, planned);
    return planned;
  }

  async #examplesOf({ task, seed }: Cell): Promise<(user: number) => number> {
    const key = `${task.learn} ${task.leaf ?? ''} ${seed}`;
    let counts = this.#examples.get(key);
    if (counts === undefined) {
      const { countOf, users } = await openTask(task.learn, seed, { leaf: task.leaf });
      counts = Uint32Array.from({ length: users }, (_, user) => countOf(user));
      this.#examples.set(key, counts);
    }
    const known = counts;
    return (user) => known[user] ?? 0;
  }
}

function priceOf(schedule: TimedSchedule, { reached, accuracy }: Trained) {
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
    curve: accuracy.map(([version, value]) => [times[version - 1] ?? 0, value] as const),
  };
}
