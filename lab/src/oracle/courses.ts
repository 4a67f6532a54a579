/**
 * Every short course of one authority: three honest devices and a colluder have given, and each step is a batch of some of the uploads, a
 * restore, a start, a wrong clock or time that passes. Run through the real services and judged.
 */
import type { Ctx } from '@basa/protocol';
import type { Adversary } from './adversary.ts';
import { playAll, type Tally } from './schedules.ts';

/** Every `of`-th course, from number `index` on: the share of one of several workers. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

interface Course {
  readonly adversary: Adversary;
  readonly names: readonly Ctx[];
  /** To the authority as it was before the first batch. */
  back(): Promise<void>;
}

type Step = (course: Course) => Promise<unknown>;

const HOUR_MS = 3_600_000;
const DEVICES = 3;
const POLICIES = [
  { bufferSize: 2, minimum: 2 },
  { bufferSize: 3, minimum: 2 },
  { bufferSize: 3, minimum: 3 },
];

/** Every single upload, every pair in both orders, every larger set in order, and two with a repeat. */
function lists(): readonly (readonly number[])[] {
  const all = Array.from({ length: DEVICES + 1 }, (_, n) => n);
  const sets = Array.from({ length: 2 ** all.length - 1 }, (_, code) => all.filter((n) => (code >> n) & 1));
  const pairs = all.flatMap((a) => all.filter((b) => b !== a).map((b) => [a, b]));
  return [...all.map((n) => [n]), ...pairs, ...sets.filter((set) => set.length > 2), [0, 0], [0, DEVICES, DEVICES]];
}

function batchStep(places: readonly number[]): Step {
  return (course) => {
    const list = places.map((place) => course.names[place] as Ctx);
    return course.adversary.close(list);
  };
}

const STEPS: readonly Step[] = [
  ...lists().map(batchStep),
  ({ back }) => back(),
  async ({ adversary }) => adversary.honest[0]?.restart(),
  ({ adversary }) => adversary.wait(1.25 * HOUR_MS),
  ({ adversary }) => adversary.wait(3 * HOUR_MS),
  async ({ adversary }) => {
    for (const party of adversary.honest) party.aheadMs -= 1.3 * HOUR_MS;
  },
];

/** The number of all courses of this many steps. */
export function courses(steps: number): number {
  return POLICIES.length * STEPS.length ** steps;
}

/** The courses of this many steps that belong to a share. */
export function runCourses(steps: number, { index, of }: Share): Promise<Tally> {
  const all = Array.from({ length: courses(steps) }, (_, code) => code);
  const own = all.filter((code) => code % of === index);
  return playAll('1,1,0', own, async (adversary, code) => {
    const course = await begun(adversary, code % POLICIES.length);
    let left = Math.floor(code / POLICIES.length);
    for (let step = 0; step < steps; step++) {
      await STEPS[left % STEPS.length]?.(course);
      left = Math.floor(left / STEPS.length);
    }
    return `course ${code} of ${steps} steps`;
  });
}

async function begun(adversary: Adversary, policy: number): Promise<Course> {
  await adversary.anew(POLICIES[policy]);
  const names: Ctx[] = [];
  for (let n = 0; n <= DEVICES; n++) {
    const name = await adversary.give(await adversary.device(n === DEVICES));
    if (name === undefined) throw new Error('a device refuses to give at the beginning of a course');
    names.push(name);
  }
  const [party] = adversary.honest;
  if (party === undefined) throw new Error('no authority');
  return { adversary, names, back: party.copied() };
}
