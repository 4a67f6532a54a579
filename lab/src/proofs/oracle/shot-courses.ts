/**
 * Every short course of one authority: three steps, each a batch of some of the uploads, a restore, a clock, an update
 * that is declared expired and contributed again, or a new version. Run through the real core and judged.
 */
import { type Ctx, millis } from '@basa/protocol';
import type { ShotDevice } from '@basa/simulator';
import { ShotOracle } from '../../attacks/one-shot/shot-oracle.ts';
import { symbolicEnvironment } from './symbolic-environment.ts';

/** Every `of`-th beginning of a course, from number `index` on: the share of one of several workers. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

export interface Tally {
  situations: number;
  closed: number;
  sums: number;
  sumsFound: number;
  readonly leaks: { readonly situation: string; readonly leaked: readonly string[] }[];
}

export const NO_SITUATIONS: Tally = { situations: 0, closed: 0, sums: 0, sumsFound: 0, leaks: [] };

/** The tally of both. */
export function addSituations(a: Tally, b: Tally): Tally {
  return {
    situations: a.situations + b.situations,
    closed: a.closed + b.closed,
    sums: a.sums + b.sums,
    sumsFound: a.sumsFound + b.sumsFound,
    leaks: [...a.leaks, ...b.leaks],
  };
}

interface Course {
  readonly oracle: ShotOracle;
  readonly devices: readonly ShotDevice[];
  /** Uploads of the honest devices and of a colluder; an upload that was contributed again replaces the first. */
  readonly names: Ctx[];
  /** Records of the authority before the first batch. */
  readonly before: number;
  batches: number;
  last: readonly Ctx[];
}

type Step = (course: Course) => void;

const HOUR_MS = 3_600_000;
const STEPS_PER_COURSE = 3;

/** Honest devices of a course, unless it says otherwise. */
const DEVICES = 3;

/**
 * Ordered lists of the uploads of some devices and a colluder: every single one, every pair in both orders, every larger set
 * that leaves out at least one, in order, and two with a repeat.
 */
function lists(devices: number): readonly (readonly number[])[] {
  const all = Array.from({ length: devices + 1 }, (_, n) => n);
  const sets = Array.from({ length: 2 ** all.length - 1 }, (_, code) => all.filter((n) => (code >> n) & 1));
  const pairs = all.flatMap((a) => all.filter((b) => b !== a).map((b) => [a, b]));
  return [...all.map((n) => [n]), ...pairs, ...sets.filter((set) => set.length > 2), [0, 0], [0, devices, devices]];
}

function batchStep(places: readonly number[]): Step {
  return (course) => {
    const list = places.map((place) => course.names[place] as Ctx);
    if (course.oracle.close(list, course.batches++)) course.last = list;
  };
}

const EVENTS: readonly Step[] = [
  ({ oracle, before }) => restore(oracle, before),
  ({ oracle }) => restore(oracle, (oracle.honest[0]?.base.log.length ?? 1) - 1),
  ({ oracle }) => oracle.honest[0]?.restart(),
  ({ oracle }) => wait(oracle, 1.25),
  ({ oracle }) => wait(oracle, 3),
  ({ oracle }) => {
    const [keeper] = oracle.honest;
    if (keeper !== undefined) keeper.clockMs -= 1.3 * HOUR_MS;
  },
  (course) => giveAgain(course, 0),
  (course) => giveAgain(course, 1),
  logged,
];

const stepsOf = (devices: number): readonly Step[] => [...lists(devices).map(batchStep), ...EVENTS];

function restore(oracle: ShotOracle, records: number): void {
  const [keeper] = oracle.honest;
  keeper?.restore(records);
  keeper?.openEpoch();
}

function wait({ world }: ShotOracle, hours: number): void {
  world.now = millis(world.now + hours * HOUR_MS);
  world.tick();
}

/** If the authority declares its upload expired, the update goes into another one; if not, a new update is contributed. */
function giveAgain({ oracle, devices, names }: Course, place: number): void {
  const device = devices[place] as ShotDevice;
  if (device.release().kind === 'free') device.own.leave();
  else device.own.newUpdate();
  const again = oracle.give(device);
  if (again !== undefined) names[place] = again;
}

/** The last batch makes a version, and the devices go on with it. */
function logged(course: Course): void {
  if (course.last.length === 0) return;
  try {
    course.oracle.logVersion(course.last, course.batches - 1);
  } catch {
    return; // The authority refuses.
  }
  for (const place of [0, 1]) giveAgain(course, place);
}

function begin(honest: number, bufferSize: number, minimum: number): Course {
  const oracle = new ShotOracle(symbolicEnvironment, { bufferSize, minimum });
  const devices = Array.from({ length: honest }, () => oracle.world.shooter());
  const names = devices.map((device) => oracle.give(device) as Ctx);
  names.push(oracle.colluderGives(oracle.world.shooter()));
  return { oracle, devices, names, before: oracle.honest[0]?.base.log.length ?? 0, batches: 0, last: [] };
}

/** The same course, to try another step from here. */
function copied(course: Course): Course {
  const oracle = course.oracle.copy();
  const devices = oracle.world.shooters.slice(0, course.devices.length);
  return { ...course, oracle, devices, names: [...course.names] };
}

export interface Courses {
  readonly devices?: number;
  readonly bufferSize: number;
  readonly minimum: number;
}

/** A share has every last step of some of the beginnings, because courses with the same beginning continue from copies of one world. */
export function runEveryCourse(
  { devices = DEVICES, bufferSize, minimum }: Courses,
  { index, of }: Share = { index: 0, of: 1 },
): Tally {
  const tally: Tally = { ...NO_SITUATIONS, leaks: [] };
  const steps = stepsOf(devices);
  const beginnings = steps.length ** (STEPS_PER_COURSE - 1);
  const start = begin(devices, bufferSize, minimum);
  for (let beginning = index; beginning < beginnings; beginning += of) {
    const begun = copied(start);
    for (let n = 0; n < STEPS_PER_COURSE - 1; n++)
      steps[Math.floor(beginning / steps.length ** n) % steps.length]?.(begun);
    for (const [last, step] of steps.entries()) {
      const course = copied(begun);
      step(course);
      const code = beginning + last * beginnings;
      addCourse(tally, course, `course ${code} of ${devices} devices with K = ${bufferSize}, Kmin = ${minimum}`);
    }
  }
  return tally;
}

function addCourse(tally: Tally, { oracle }: Course, situation: string): void {
  const { leaked, broken, closed, sums, sumsFound } = oracle.trace.judge();
  tally.situations++;
  tally.closed += closed;
  tally.sums += sums;
  tally.sumsFound += sumsFound;
  if (leaked.length + broken.length > 0) tally.leaks.push({ situation, leaked: [...leaked, ...broken] });
}
