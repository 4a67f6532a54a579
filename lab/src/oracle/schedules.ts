/** A schedule, named by one number: honest devices come, and the adversary asks the authorities anything. */
import { ALONE, type Shape, THREE_OF_FOUR } from '@basa/testkit/world/world.ts';
import { Adversary } from './adversary.ts';
import { Dice } from './dice.ts';
import { MOVES, type Scene } from './moves.ts';
import type { AttackReport } from './trace.ts';

export interface ShapeOfSchedules {
  readonly shape: Shape;
  readonly colluding: readonly number[];
}

/** By the name that `prove shots --shape` takes. */
export const SHAPES = {
  '1,1,0': { shape: ALONE, colluding: [] },
  '3,3,1': { shape: { n: 3, t: 3, f: 1 }, colluding: [2] },
  '4,3,1': { shape: THREE_OF_FOUR, colluding: [1] },
} as const satisfies Readonly<Record<string, ShapeOfSchedules>>;
export type ShapeName = keyof typeof SHAPES;

export interface Tally {
  readonly schedules: number;
  /** Schedules in which an honest authority released something. */
  readonly closed: number;
  readonly sums: number;
  readonly sumsFound: number;
  readonly leaks: readonly { readonly name: string; readonly leaked: readonly string[] }[];
}

export const NO_SCHEDULES: Tally = { schedules: 0, closed: 0, sums: 0, sumsFound: 0, leaks: [] };

/** The tally of both. */
export function addTallies(a: Tally, b: Tally): Tally {
  return {
    schedules: a.schedules + b.schedules,
    closed: a.closed + b.closed,
    sums: a.sums + b.sums,
    sumsFound: a.sumsFound + b.sumsFound,
    leaks: [...a.leaks, ...b.leaks],
  };
}

function tallyOf(name: string, { leaked, broken, closed, sums, sumsFound }: AttackReport): Tally {
  const found = [...leaked, ...broken];
  const leaks = found.length === 0 ? [] : [{ name, leaked: found }];
  return { schedules: 1, closed: Math.min(1, closed), sums, sumsFound, leaks };
}

/** Played in one world: services keep what earlier tasks left behind. */
const PER_WORLD = 40;

/** Plays each number as a task of its own, and judges it; stops after the first leak if requested. */
export async function playAll(
  shape: ShapeName,
  numbers: readonly number[],
  play: (adversary: Adversary, number: number) => Promise<string>,
  untilLeak = false,
): Promise<Tally> {
  let tally = NO_SCHEDULES;
  for (let from = 0; from < numbers.length; from += PER_WORLD) {
    const adversary = await Adversary.open({ ...SHAPES[shape] });
    try {
      for (const number of numbers.slice(from, from + PER_WORLD)) {
        const name = await play(adversary, number);
        for (const party of adversary.honest) party.aheadMs = 0;
        tally = addTallies(tally, tallyOf(name, adversary.trace.judge()));
        if (untilLeak && tally.leaks.length > 0) return tally;
      }
    } finally {
      await adversary.world.close();
    }
  }
  return tally;
}

/** Schedules `seed` .. `seed + count - 1`. */
export function runSchedules(
  shape: ShapeName,
  { seed, count, untilLeak }: { readonly seed: number; readonly count: number; readonly untilLeak?: boolean },
): Promise<Tally> {
  const numbers = Array.from({ length: count }, (_, n) => seed + n);
  const play = async (adversary: Adversary, number: number): Promise<string> => {
    await playSchedule(adversary, new Dice(number));
    return `schedule ${number} at (${shape})`;
  };
  return playAll(shape, numbers, play, untilLeak);
}

async function playSchedule(adversary: Adversary, dice: Dice): Promise<void> {
  const scene = await beginning(adversary, dice);
  const moves = Object.values(MOVES);
  for (let n = 6 + dice.below(18); n > 0; n--) await dice.pick(moves)(scene);
  for (const { names } of scene.asked) for (const party of adversary.honest) await adversary.release(party, names);
}

/** Devices, two of which have given. */
async function beginning(adversary: Adversary, dice: Dice): Promise<Scene> {
  const bufferSize = 2 + dice.below(2);
  await adversary.anew({ bufferSize, minimum: 2 + dice.below(bufferSize - 1) });
  const [devices, colluders] = [[], []] as [Scene['devices'][number][], Scene['colluders'][number][]];
  for (let n = 2 + dice.below(2); n > 0; n--) devices.push(await adversary.device());
  for (let n = dice.below(3); n > 0; n--) colluders.push(await adversary.device(true));
  const names: Scene['names'] = [];
  for (const device of devices.slice(0, 2)) {
    const name = await adversary.give(device);
    if (name !== undefined) names.push(name);
  }
  return { adversary, dice, devices, colluders, names, asked: [], copies: [] };
}
