/** A schedule of the one-shot mode, named by one number: honest devices come, and the adversary asks the authorities anything. */

import type { AttackReport } from '../../../attacks/judgement.ts';
import { ShotOracle } from '../../../attacks/one-shot/shot-oracle.ts';
import { symbolicEnvironment } from '../../world/symbolic-federation.ts';
import { Dice } from '../dice.ts';
import { keep, MOVES, type Scene } from './shot-moves.ts';

export interface ShotReport extends AttackReport {
  readonly seed: number;
  readonly colluders: number;
}

const COUNCILS = [
  {},
  {},
  { council: { authorities: 4, threshold: 3 }, tolerated: 1, colluding: [0] },
  { council: { authorities: 4, threshold: 3 }, tolerated: 1, colluding: [2] },
];

export function runShotSchedule(seed: number): ShotReport {
  const dice = new Dice(seed);
  const bufferSize = 2 + dice.below(2);
  const minimum = 2 + dice.below(bufferSize - 1);
  const oracle = new ShotOracle(symbolicEnvironment, { bufferSize, minimum, ...dice.pick(COUNCILS) });
  const scene: Scene = { oracle, dice, devices: [], colluders: [], names: [], asked: [], standings: [] };
  for (let n = 2 + dice.below(3); n > 0; n--) scene.devices.push(oracle.world.shooter());
  for (let n = dice.below(4); n > 0; n--) scene.colluders.push(oracle.world.shooter());
  for (const device of scene.devices.slice(0, 2)) keep(scene, oracle.give(device));
  const moves = Object.values(MOVES);
  for (let n = 6 + dice.below(24); n > 0; n--) dice.pick(moves)(scene);
  for (const { names, number } of scene.asked)
    for (const keeper of oracle.honest) oracle.release(keeper, names, number);
  return { seed, colluders: scene.colluders.length, ...oracle.trace.judge() };
}

export interface ShotTally {
  schedules: number;
  withColluders: number;
  /** Schedules with a batch that an honest authority considered final. */
  closed: number;
  sums: number;
  sumsFound: number;
  readonly leaks: ShotReport[];
}

export const NO_SHOT_SCHEDULES: ShotTally = {
  schedules: 0,
  withColluders: 0,
  closed: 0,
  sums: 0,
  sumsFound: 0,
  leaks: [],
};

/** Schedules `seed` .. `seed + count - 1`; stops at the first leak if requested. */
export function runShotSchedules(
  seed: number,
  count: number,
  { untilLeak = false }: { readonly untilLeak?: boolean } = {},
): ShotTally {
  const tally: ShotTally = { ...NO_SHOT_SCHEDULES, leaks: [] };
  for (let n = 0; n < count; n++) {
    const report = runShotSchedule(seed + n);
    tally.schedules++;
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
    withColluders: a.withColluders + b.withColluders,
    closed: a.closed + b.closed,
    sums: a.sums + b.sums,
    sumsFound: a.sumsFound + b.sumsFound,
    leaks: [...a.leaks, ...b.leaks],
  };
}
