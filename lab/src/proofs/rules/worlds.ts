/** The worlds of the model of the rules. Complete worlds must keep every promise, and leaving out a rule must break one. */
import { type Space, type Walk, type WalkOptions, walk } from '../explorer/walk.ts';
import type { Rule } from './authority.ts';
import { LyingServer } from './lying-server.ts';
import { brokenPromise } from './promises.ts';
import type { Shape } from './shape.ts';

export interface RuleWorld {
  readonly name: string;
  /** Explored by `--quick` and by the tests. */
  readonly isSmall: boolean;
  run(options?: WalkOptions): Walk;
}

/** A world without one rule. */
export interface MissingRule extends RuleWorld {
  /** Appears in the name of the test that fails without the rule, as `[R1]`; undefined for a second line of defence. */
  readonly id: string | undefined;
  /** The last step of the expected counterexample. Undefined if there is no counterexample, because another rule also keeps the promise. */
  readonly problem: string | undefined;
}

type Numbers = readonly [authorities: number, threshold: number, colluding: number, slots: number, minimum: number];

function shapeOf([authorities, threshold, colluding, slots, minimum]: Numbers, more: Partial<Shape> = {}): Shape {
  return { authorities, threshold, colluding, slots, minimum, ...more };
}

function nameOf({ authorities, threshold, colluding, slots, minimum, users, eve, ghosts }: Shape): string {
  return [
    `${threshold} of ${authorities} authorities`,
    ...(colluding > 0 ? [`${colluding} colluding`] : []),
    `K = ${slots}, Kmin = ${minimum}`,
    ...(users === undefined ? [] : [`${users} honest users`]),
    ...(eve === true ? ['a colluding user'] : []),
    ...(ghosts === true ? ['invented users'] : []),
  ].join(', ');
}

function world<State>(name: string, isSmall: boolean, space: () => Space<State>): RuleWorld {
  return { name, isSmall, run: (options = {}) => walk(space(), options) };
}

function lying(isSmall: boolean, numbers: Numbers, more?: Partial<Shape>): RuleWorld {
  const shape = shapeOf(numbers, more);
  return world(`a lying server, ${nameOf(shape)}`, isSmall, () => new LyingServer(shape, brokenPromise));
}

export const RULE_WORLDS: readonly RuleWorld[] = [
  lying(true, [1, 1, 0, 2, 2], { ghosts: true }),
  lying(true, [1, 1, 0, 3, 2]),
  lying(true, [1, 1, 0, 3, 3], { users: 2, eve: true }),
  lying(false, [1, 1, 0, 3, 2], { ghosts: true }),
  lying(false, [1, 1, 0, 3, 3], { users: 2, eve: true, ghosts: true }),
  lying(false, [1, 1, 0, 4, 3]),
  lying(true, [2, 2, 0, 2, 2], { ghosts: true }),
  lying(false, [2, 2, 0, 3, 2]),
  lying(true, [2, 2, 1, 3, 2]),
  lying(true, [3, 2, 0, 2, 2], { ghosts: true }),
  lying(true, [4, 3, 1, 2, 2]),
  lying(false, [4, 3, 1, 2, 2], { ghosts: true, users: 3 }),
  lying(false, [4, 3, 1, 3, 3], { users: 2, eve: true }),
  lying(false, [4, 3, 1, 3, 2]),
];

function withoutRule(
  id: string | undefined,
  missing: Rule,
  problem: string | undefined,
  numbers: Numbers,
  more?: Partial<Shape>,
): MissingRule {
  const options = { ...shapeOf(numbers, more), missing };
  return { ...world(missing, true, () => new LyingServer(options, brokenPromise)), id, problem };
}

/** Another rule keeps the promise without it. */
function secondLine(missing: Rule, numbers: Numbers, more?: Partial<Shape>): MissingRule {
  return withoutRule(undefined, missing, undefined, numbers, more);
}

/** Too many authorities with the server: t is not above (n + f) / 2. */
function beyondBound(id: string, problem: string, numbers: Numbers): MissingRule {
  const shape = shapeOf(numbers);
  const name = `t > (n + f) / 2: ${nameOf(shape)}`;
  return { ...world(name, true, () => new LyingServer(shape, brokenPromise)), id, problem };
}

const EVE_IN_A_SLOT = { users: 2, eve: true };

export const MISSING_RULES: readonly MissingRule[] = [
  withoutRule('R1', 'a slot is registered once', 'slot 0 has two registrations', [1, 1, 0, 2, 2]),
  withoutRule('R2', 'a user has one slot', 'one user is registered for two slots', [1, 1, 0, 3, 3], EVE_IN_A_SLOT),
  withoutRule('R3', 'records are durable before the answer', 'slot 0 has two registrations', [1, 1, 0, 2, 2]),
  withoutRule('R4', 'the view is computed from the list', 'the server computes x1', [1, 1, 0, 2, 2], { ghosts: true }),
  withoutRule('R5', 'at least Kmin slots are accepted', 'a buffer was closed with 1 slots', [1, 1, 0, 2, 2]),
  withoutRule(
    'R6',
    'each accepted slot has receipts of t authorities',
    'a slot was accepted that too few authorities registered',
    [2, 2, 0, 3, 3],
    EVE_IN_A_SLOT,
  ),
  withoutRule(
    'R7',
    'an authority does not act against its own record',
    'an authority gave a key of a slot that it registered for another user',
    [3, 2, 0, 2, 2],
    { users: 3 },
  ),
  withoutRule(
    'R8',
    'an authority votes once for a buffer',
    'one buffer has two closes with enough votes',
    [1, 1, 0, 3, 2],
  ),
  withoutRule('R9', 'keys are released only after t votes', 'keys were released without enough votes', [2, 2, 0, 3, 2]),
  withoutRule(
    'R10',
    'the self key or the edge key of a slot is released, never both',
    'self and edge keys of slot 0 were both released',
    [1, 1, 0, 2, 2],
  ),
  withoutRule(
    'R11',
    'an authority that voted does not abort',
    'users were told that a buffer was aborted, although enough authorities closed it',
    [2, 2, 0, 2, 2],
  ),
  withoutRule(
    'R12',
    'an outcome needs t signatures',
    'users were told that a buffer was aborted, although enough authorities closed it',
    [3, 2, 0, 2, 2],
  ),
  beyondBound('R13', 'slot 0 has two registrations', [3, 2, 1, 2, 2]),
  beyondBound('R13', 'slot 0 has two registrations', [4, 3, 2, 2, 2]),
  secondLine('the list of earlier slots agrees with the registrations', [1, 1, 0, 2, 2], { ghosts: true }),
  secondLine('no user is listed twice', [1, 1, 0, 3, 3], EVE_IN_A_SLOT),
  secondLine('a user signs one key request in a buffer', [1, 1, 0, 2, 2], { ghosts: true }),
];
