/** What the model of the rules is run on: worlds that must keep every promise, and rules whose absence must break one. */
import { type Space, type Walk, type WalkOptions, walk } from '../explorer/walk.ts';
import type { Rule } from './authority.ts';
import { HonestServer, type ServiceOptions, type ServiceRule } from './honest-server.ts';
import { LyingServer } from './lying-server.ts';
import { type LogRule, ModelLogs } from './model-log.ts';
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
  /** What the counterexample ends in; undefined where another rule holds the promise as well, so that there is none. */
  readonly problem: string | undefined;
}

type Numbers = readonly [authorities: number, threshold: number, colluding: number, slots: number, minimum: number];

function shapeOf([authorities, threshold, colluding, slots, minimum]: Numbers, more: Partial<Shape> = {}): Shape {
  return { authorities, threshold, colluding, slots, minimum, ...more };
}

function nameOf({ authorities, threshold, colluding, slots, minimum, users, eve, ghosts }: Shape): string {
  return [
    `${threshold} of ${authorities} authorities`,
    ...(colluding > 0 ? [`${colluding} with the server`] : []),
    `K = ${slots}, Kmin = ${minimum}`,
    ...(users === undefined ? [] : [`${users} honest users`]),
    ...(eve === true ? ['Eve'] : []),
    ...(ghosts === true ? ['made-up users'] : []),
  ].join(', ');
}

function world<State>(name: string, isSmall: boolean, space: () => Space<State>): RuleWorld {
  return { name, isSmall, run: (options = {}) => walk(space(), options) };
}

function lying(isSmall: boolean, numbers: Numbers, more?: Partial<Shape>): RuleWorld {
  const shape = shapeOf(numbers, more);
  return world(`a lying server, ${nameOf(shape)}`, isSmall, () => new LyingServer(shape, brokenPromise));
}

function honest(isSmall: boolean, numbers: Numbers, crashes: number): RuleWorld {
  const options: ServiceOptions = { ...shapeOf(numbers), crashes };
  const words = crashes === 0 ? 'nobody crashes' : 'each authority crashes once';
  return world(`an honest server, ${nameOf(options)}, ${words}`, isSmall, () => new HonestServer(options));
}

function logs(authorities: number, threshold: number, colluding: number): RuleWorld {
  const shape = { authorities, threshold, colluding };
  const apart = colluding > 0 ? `, ${colluding} with the server` : '';
  return world(`model logs, ${threshold} of ${authorities} authorities${apart}`, true, () => new ModelLogs(shape));
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
  honest(true, [1, 1, 0, 3, 2], 1),
  honest(false, [1, 1, 0, 4, 3], 1),
  honest(true, [2, 2, 0, 2, 2], 1),
  honest(false, [2, 2, 0, 3, 2], 1),
  honest(true, [3, 2, 0, 2, 2], 0),
  honest(false, [3, 2, 0, 2, 2], 1),
  honest(true, [4, 3, 1, 2, 2], 1),
  honest(false, [4, 3, 0, 2, 2], 0),
  honest(false, [4, 3, 1, 3, 2], 0),
  logs(1, 1, 0),
  logs(2, 2, 0),
  logs(3, 2, 0),
  logs(4, 3, 1),
];

function withoutRule(missing: Rule, problem: string | undefined, numbers: Numbers, more?: Partial<Shape>): MissingRule {
  const options = { ...shapeOf(numbers, more), missing };
  return { ...world(missing, true, () => new LyingServer(options, brokenPromise)), problem };
}

/** Too many authorities with the server: t is not above (n + f) / 2. */
function beyondBound(problem: string, numbers: Numbers): MissingRule {
  const shape = shapeOf(numbers);
  const name = `t > (n + f) / 2: ${nameOf(shape)}`;
  return { ...world(name, true, () => new LyingServer(shape, brokenPromise)), problem };
}

function logWithout(missing: LogRule, problem: string): MissingRule {
  const options = { authorities: 2, threshold: 2, colluding: 0, missing };
  return { ...world(missing, true, () => new ModelLogs(options)), problem };
}

function serviceWithout(missing: ServiceRule, problem: string, numbers: Numbers): MissingRule {
  const options: ServiceOptions = { ...shapeOf(numbers), crashes: 0, missing };
  return { ...world(missing, true, () => new HonestServer(options)), problem };
}

const EVE_IN_A_SLOT = { users: 2, eve: true };

export const MISSING_RULES: readonly MissingRule[] = [
  withoutRule('a slot is registered once', 'slot 0 has two registrations', [1, 1, 0, 2, 2]),
  withoutRule('a user has one slot', 'one user is registered for two slots', [1, 1, 0, 3, 3], EVE_IN_A_SLOT),
  withoutRule('records before answers', 'slot 0 has two registrations', [1, 1, 0, 2, 2]),
  withoutRule('the view is that of the list', 'the server computes x1', [1, 1, 0, 2, 2], { ghosts: true }),
  withoutRule('enough are accepted', 'a buffer was closed with 1 slots', [1, 1, 0, 2, 2]),
  withoutRule(
    'receipts of enough authorities',
    'a slot was accepted that too few authorities registered',
    [2, 2, 0, 3, 3],
    EVE_IN_A_SLOT,
  ),
  withoutRule(
    'its own record counts against receipts',
    'an authority gave a key of a slot that it registered for somebody else',
    [3, 2, 0, 2, 2],
    { users: 3 },
  ),
  withoutRule('one vote', 'one buffer has two closes with enough votes', [1, 1, 0, 3, 2]),
  withoutRule('keys follow enough votes', 'keys were released without enough votes', [2, 2, 0, 3, 2]),
  withoutRule('self or edge, never both', 'self and edge keys of slot 0 were both released', [1, 1, 0, 2, 2]),
  withoutRule(
    'who voted does not abort',
    'users were told "aborted" of a buffer that enough authorities closed',
    [2, 2, 0, 2, 2],
  ),
  withoutRule(
    'an outcome needs enough signatures',
    'users were told "aborted" of a buffer that enough authorities closed',
    [3, 2, 0, 2, 2],
  ),
  beyondBound('slot 0 has two registrations', [3, 2, 1, 2, 2]),
  beyondBound('slot 0 has two registrations', [4, 3, 2, 2, 2]),
  logWithout('one hash for a version', 'one version has two entries that enough authorities signed'),
  logWithout('a version comes of a closed buffer', 'a version was made of a buffer that is not closed'),
  logWithout('a buffer makes one version', 'one buffer made two versions'),
  logWithout('a version is the next one', 'one buffer made two versions'),
  logWithout('only what enough signed is adopted', 'two logs differ at version 1'),
  serviceWithout(
    'an upload is durable before it is acknowledged',
    'the acknowledged update of user 0 is not in the set',
    [1, 1, 0, 3, 2],
  ),
  serviceWithout(
    'the set is fixed before it is asked for',
    'a buffer never ended, with 3 acknowledged updates in it',
    [2, 2, 0, 3, 2],
  ),
  serviceWithout(
    'asked again, an authority says the same',
    'a buffer never ended, with 0 acknowledged updates in it',
    [1, 1, 0, 2, 2],
  ),
  serviceWithout(
    'receipts stand in for records',
    'a buffer never ended, with 2 acknowledged updates in it',
    [3, 2, 0, 2, 2],
  ),
  serviceWithout('enough votes, not all', 'a buffer never ended, with 2 acknowledged updates in it', [3, 2, 0, 2, 2]),
  // Second lines: the promise stands without them, by a rule above.
  withoutRule('earlier slots are as registered', undefined, [1, 1, 0, 2, 2], { ghosts: true }),
  withoutRule('nobody is listed twice', undefined, [1, 1, 0, 3, 3], EVE_IN_A_SLOT),
  withoutRule('one request of a user', undefined, [1, 1, 0, 2, 2], { ghosts: true }),
];
