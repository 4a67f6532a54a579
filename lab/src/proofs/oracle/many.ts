/** Many generated schedules in a row, and their combined result. */
import { ORACLE_ENGINES } from '../world/symbolic-federation.ts';
import { Federations, RUNS_PER_FEDERATION } from './federations.ts';
import { runSchedule, type ScheduleReport } from './schedule.ts';

export interface ScheduleTally {
  schedules: number;
  /** Schedules with a buffer whose slots were all taken, and with a buffer that closed. */
  filled: number;
  closed: number;
  withColluders: number;
  withLies: number;
  lies: number;
  /** Closed buffers with an honest user in the sum, and those whose sum the server can compute. */
  sums: number;
  sumsFound: number;
  /** The number of sums that a lying server made impossible to open. */
  sumsWithheld: number;
  readonly leaks: ScheduleReport[];
}

export const NO_SCHEDULES: ScheduleTally = {
  schedules: 0,
  filled: 0,
  closed: 0,
  withColluders: 0,
  withLies: 0,
  lies: 0,
  sums: 0,
  sumsFound: 0,
  sumsWithheld: 0,
  leaks: [],
};

/** Schedules `seed` .. `seed + count - 1`; stops at the first leak if requested. */
export function runSchedules(
  seed: number,
  count: number,
  options: { readonly untilLeak?: boolean } = {},
): ScheduleTally {
  const tally: ScheduleTally = { ...NO_SCHEDULES, leaks: [] };
  const fresh = () => ORACLE_ENGINES.map((engine) => new Federations(engine));
  let byEngine = fresh();
  for (let n = 0; n < count; n++) {
    if (n % RUNS_PER_FEDERATION === 0) byEngine = fresh();
    // The engines take turns by number, so a schedule is the same in every run.
    const federations = byEngine[(seed + n) % byEngine.length] as Federations;
    addReport(tally, runSchedule(federations, seed + n));
    if (options.untilLeak === true && tally.leaks.length > 0) break;
  }
  return tally;
}

function addReport(tally: ScheduleTally, report: ScheduleReport): void {
  tally.schedules++;
  if (report.filled) tally.filled++;
  if (report.closed > 0) tally.closed++;
  if (report.colluders > 0) tally.withColluders++;
  if (report.lies > 0) tally.withLies++;
  tally.lies += report.lies;
  tally.sums += report.sums;
  tally.sumsFound += report.sumsFound;
  tally.sumsWithheld += report.sumsWithheld;
  if (report.leaked.length > 0) tally.leaks.push(report);
}

/** The tally of both. */
export function addTallies(a: ScheduleTally, b: ScheduleTally): ScheduleTally {
  return {
    schedules: a.schedules + b.schedules,
    filled: a.filled + b.filled,
    closed: a.closed + b.closed,
    withColluders: a.withColluders + b.withColluders,
    withLies: a.withLies + b.withLies,
    lies: a.lies + b.lies,
    sums: a.sums + b.sums,
    sumsFound: a.sumsFound + b.sumsFound,
    sumsWithheld: a.sumsWithheld + b.sumsWithheld,
    leaks: [...a.leaks, ...b.leaks],
  };
}
