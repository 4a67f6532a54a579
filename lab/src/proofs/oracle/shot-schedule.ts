/** A schedule of the one-shot mode, named by one number: honest devices come, and the adversary asks the authorities anything. */

import type { Ctx } from '@basa/protocol';
import type { AttackReport } from '../../attacks/judgement.ts';
import { ShotOracle, type ShotOracleOptions } from '../../attacks/one-shot/shot-oracle.ts';
import { Dice } from './dice.ts';
import { MOVES, type Scene } from './shot-moves.ts';
import { symbolicEnvironment } from './symbolic-environment.ts';

export interface ShotReport extends AttackReport {
  readonly seed: number;
  readonly authorities: number;
  readonly colluders: number;
}

const COUNCILS = [
  {},
  {},
  { council: { authorities: 4, threshold: 3 }, tolerated: 1, colluding: [0] },
  { council: { authorities: 4, threshold: 3 }, tolerated: 1, colluding: [2] },
];

/** A schedule has one authority, or four of which one colludes. */
export const SHOT_AUTHORITIES = [1, 4] as const;
export type ShotAuthorities = (typeof SHOT_AUTHORITIES)[number];

function councilsOf(authorities: ShotAuthorities | undefined) {
  return COUNCILS.filter(({ council }) => authorities === undefined || (council?.authorities ?? 1) === authorities);
}

export function runShotSchedule(seed: number, authorities?: ShotAuthorities): ShotReport {
  const dice = new Dice(seed);
  const scene = beginning(dice, authorities);
  const { oracle } = scene;
  const moves = Object.values(MOVES);
  for (let n = 6 + dice.below(24); n > 0; n--) dice.pick(moves)(scene);
  for (const { names, number } of scene.asked)
    for (const keeper of oracle.honest) oracle.release(keeper, names, number);
  return {
    seed,
    authorities: oracle.world.policy.authorities.length,
    colluders: scene.colluders.length,
    ...oracle.trace.judge(),
  };
}

/** The first uploads of a world, and the oracle after them. */
interface Begun {
  readonly oracle: ShotOracle;
  readonly names: readonly Ctx[];
}

/** By the options and the number of devices. To set up a world takes as long as the rest of a schedule, so schedules copy it. */
const BEGUN = new Map<string, Begun>();

/** A world with its devices, two of which have contributed. */
function beginning(dice: Dice, authorities: ShotAuthorities | undefined): Scene {
  const bufferSize = 2 + dice.below(2);
  const minimum = 2 + dice.below(bufferSize - 1);
  const options = { bufferSize, minimum, ...dice.pick(councilsOf(authorities)) };
  const honest = 2 + dice.below(3);
  const all = honest + dice.below(4);
  const name = JSON.stringify([options, all]);
  const begun = BEGUN.get(name) ?? begin(options, all);
  BEGUN.set(name, begun);
  const oracle = begun.oracle.copy();
  const { shooters } = oracle.world;
  const [devices, colluders] = [shooters.slice(0, honest), shooters.slice(honest)];
  return { oracle, dice, devices, colluders, names: [...begun.names], asked: [], standings: [] };
}

function begin(options: ShotOracleOptions, devices: number): Begun {
  const oracle = new ShotOracle(symbolicEnvironment, options);
  const [first, second] = Array.from({ length: devices }, () => oracle.world.shooter());
  return { oracle, names: [first, second].flatMap((device) => (device && oracle.give(device)) ?? []) };
}

export interface ShotTally {
  schedules: number;
  withOneAuthority: number;
  withFourAuthorities: number;
  withColluders: number;
  /** Schedules with a batch that an honest authority considered final. */
  closed: number;
  sums: number;
  sumsFound: number;
  readonly leaks: ShotReport[];
}

export const NO_SHOT_SCHEDULES: ShotTally = {
  schedules: 0,
  withOneAuthority: 0,
  withFourAuthorities: 0,
  withColluders: 0,
  closed: 0,
  sums: 0,
  sumsFound: 0,
  leaks: [],
};

interface ScheduleOptions {
  readonly untilLeak?: boolean;
  /** Only schedules with this many; both kinds if it is missing. */
  readonly authorities?: ShotAuthorities | undefined;
}

/** Schedules `seed` .. `seed + count - 1`; stops at the first leak if requested. */
export function runShotSchedules(
  seed: number,
  count: number,
  { untilLeak = false, authorities }: ScheduleOptions = {},
): ShotTally {
  const tally: ShotTally = { ...NO_SHOT_SCHEDULES, leaks: [] };
  for (let n = 0; n < count; n++) {
    const report = runShotSchedule(seed + n, authorities);
    tally.schedules++;
    if (report.authorities === 1) tally.withOneAuthority++;
    else tally.withFourAuthorities++;
    if (report.colluders > 0) tally.withColluders++;
    if (report.closed > 0) tally.closed++;
    tally.sums += report.sums;
    tally.sumsFound += report.sumsFound;
    if (report.leaked.length + report.broken.length > 0) tally.leaks.push(report);
    if (untilLeak && tally.leaks.length > 0) break;
  }
  return tally;
}

/** The tally of both. */
export function addShotTallies(a: ShotTally, b: ShotTally): ShotTally {
  return {
    schedules: a.schedules + b.schedules,
    withOneAuthority: a.withOneAuthority + b.withOneAuthority,
    withFourAuthorities: a.withFourAuthorities + b.withFourAuthorities,
    withColluders: a.withColluders + b.withColluders,
    closed: a.closed + b.closed,
    sums: a.sums + b.sums,
    sumsFound: a.sumsFound + b.sumsFound,
    leaks: [...a.leaks, ...b.leaks],
  };
}
