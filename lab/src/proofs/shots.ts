/** The one-shot mode, searched: states and courses, generated schedules, and runs with faults. */
import { createWorkerPool, type WorkerPool, workerModule } from '@basa/runtime/node';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { courses } from '../oracle/courses.ts';
import { EXHAUSTIVE, Exhaustive } from '../oracle/exhaustive.ts';
import type { FaultyRun } from '../oracle/faults.ts';
import { addTallies, NO_SCHEDULES, SHAPES, type ShapeName, type Tally } from '../oracle/schedules.ts';
import { forEachTask } from './pool.ts';
import type { ShotAnswer, ShotTask } from './shots-worker.ts';

const SHARES = 64;
const PER_TASK = 10;
const REPORT_MS = 5000;

interface ShotsOptions {
  readonly schedules: number;
  readonly steps: number;
  readonly states: number;
  readonly faults: number;
  readonly seed: number;
  readonly workers: number;
  readonly shape?: string;
}

export async function proveShots(options: ShotsOptions, tell: (line: string) => void) {
  const { seed, shape, steps, schedules, workers } = options;
  const isWanted = (name: string): boolean => shape === undefined || name === shape;
  const shapes = (Object.keys(SHAPES) as ShapeName[]).filter(isWanted);
  if (workers < 1 || shapes.length === 0)
    throw new MissingError(`--workers is at least 1, and --shape takes ${Object.keys(SHAPES).join(' or ')}`);
  const search = new Search(options, tell);
  try {
    const exhaustive: Record<string, Tally> = {};
    for (const [name, one] of steps === 0 ? [] : Object.entries(EXHAUSTIVE).filter(([key]) => isWanted(key)))
      exhaustive[name] = search.told(`states at (${name})`, new Exhaustive(one).run(options.states || undefined));
    const short = steps === 0 ? NO_SCHEDULES : await search.courses();
    const generated: Record<string, Tally> = {};
    for (const name of shapes) generated[name] = await search.schedules(name);
    const { broken, ...faults } = await search.faults();
    const leaks = [short, ...Object.values(exhaustive), ...Object.values(generated)].flatMap((tally) => tally.leaks);
    return {
      nextSeed: seed + schedules,
      problems: [
        ...leaks.map(({ name, leaked }) => `leak ${leaked.join(', ')}: ${name}`),
        ...broken.map((run) => `${run.broken.join(', ')}: run ${run.seed}`),
      ],
      details: { exhaustive, courses: short, generated, faults },
    };
  } finally {
    await search.pool.close();
  }
}

class Search {
  readonly pool: WorkerPool<ShotTask, ShotAnswer>;
  readonly #options: ShotsOptions;
  readonly #tell: (line: string) => void;
  #toldMs = Date.now();

  constructor(options: ShotsOptions, tell: (line: string) => void) {
    this.#options = options;
    this.#tell = tell;
    this.pool = createWorkerPool({ ...workerModule(import.meta.url, './shots-worker'), size: options.workers });
  }

  told(what: string, tally: Tally): Tally {
    const { schedules, closed, sums, sumsFound, leaks } = tally;
    const found = `${sumsFound} of ${sums} sums found, ${leaks.length} leaks`;
    this.#tell(`${schedules} ${what}, ${closed} with a released batch, ${found}`);
    return tally;
  }

  async courses(): Promise<Tally> {
    const { steps } = this.#options;
    const all = courses(steps);
    const of = Math.min(SHARES, all);
    return this.#tallied(`courses of ${steps} steps`, of, (index) => ({
      kind: 'courses',
      steps,
      share: { index, of },
    }));
  }

  schedules(shape: ShapeName): Promise<Tally> {
    const { schedules, seed } = this.#options;
    const what = `schedules at (${shape}) from ${seed}`;
    return this.#tallied(
      what,
      Math.ceil(schedules / PER_TASK),
      (n): ShotTask => ({
        kind: 'schedules',
        shape,
        ...this.#piece(n, schedules),
      }),
    );
  }

  async faults() {
    const runs: FaultyRun[] = [];
    await forEachTask(
      this.pool,
      Math.ceil(this.#options.faults / PER_TASK),
      (n): ShotTask => ({ kind: 'faults', ...this.#piece(n, this.#options.faults) }),
      (_, answer) => runs.push(...(answer as readonly FaultyRun[])),
    );
    const fates: Record<string, number> = {};
    for (const run of runs)
      for (const [fate, count] of Object.entries(run.fates)) fates[fate] = (fates[fate] ?? 0) + count;
    const broken = runs.filter((run) => run.broken.length > 0);
    const acknowledged = runs.reduce((sum, run) => sum + run.acknowledged, 0);
    const words = Object.entries(fates).map(([fate, count]) => `${count} ${fate}`);
    this.#tell(`${runs.length} runs with faults: ${acknowledged} acknowledged updates (${words.join(', ')})`);
    return { runs: runs.length, acknowledged, fates, broken };
  }

  /** The numbers of a task of a few schedules or runs. */
  #piece(n: number, all: number): { readonly seed: number; readonly count: number } {
    return { seed: this.#options.seed + n * PER_TASK, count: Math.min(PER_TASK, all - n * PER_TASK) };
  }

  /** The sum of the tallies of these tasks, told every few seconds. */
  async #tallied(what: string, count: number, taskOf: (number: number) => ShotTask): Promise<Tally> {
    let tally = NO_SCHEDULES;
    await forEachTask(this.pool, count, taskOf, (_, answer) => {
      tally = addTallies(tally, answer as Tally);
      if (Date.now() - this.#toldMs < REPORT_MS) return;
      this.#toldMs = Date.now();
      this.#tell(`  ${tally.schedules} ${what} so far, ${tally.leaks.length} leaks`);
    });
    return this.told(what, tally);
  }
}
