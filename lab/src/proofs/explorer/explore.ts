/**
 * Visits every state that users, server and authorities can reach together, breadth first. It runs the real transitions of the core in any
 * order, over a network that keeps every message and may lose, delay or repeat it. A party has only its records: a crash loses the message
 * that it was about to send, and every step is a restart.
 */
import type { WorldOptions } from './explored-world.ts';
import { type LogOptions, ModelLogs } from './model-logs.ts';
import { ShotSpace } from './one-shot/space.ts';
import type { ShotWorldOptions } from './one-shot/world-options.ts';
import { StateChecks } from './state-checks.ts';
import { nameOf, type State, StateSpace } from './state-space.ts';
import { type Space, type Walk, type WalkOptions, walk, wander } from './walk.ts';

export interface ExploreOptions extends WorldOptions, WalkOptions {}

export interface Exploration extends Walk, Pick<StateChecks, 'fates' | 'endings'> {
  /** Distinct states of one party, and distinct messages: the components of the global states. */
  readonly local: number;
  readonly messages: number;
}

export interface ShotExploration extends Omit<Exploration, 'fates'> {
  readonly fates: Readonly<Record<string, number>>;
}

export function explore(options: ExploreOptions): Exploration {
  return explored(options, (space) => walk(space, options));
}

/** Follows this many random paths to the end instead of every state. */
export function exploreWays(options: WorldOptions, ways: number, draw: (count: number) => number): Exploration {
  return explored(options, (space) => wander(space, ways, draw));
}

/** The same for the one-shot mode: every state up to a budget, or this many random paths. */
export function exploreShots(options: ShotWorldOptions, search: WalkOptions | ShotWays = {}): ShotExploration {
  const space = new ShotSpace(options);
  const walked = 'ways' in search ? wander(space, search.ways, search.draw) : walk(space, search);
  return { ...walked, fates: space.fates, endings: {}, ...space.sizes };
}

/** The model logs of several authorities under a lying server. */
export function exploreLogs(options: LogOptions, search: WalkOptions = {}): Walk {
  return walk(new ModelLogs(options), search);
}

interface ShotWays {
  readonly ways: number;
  draw(count: number): number;
}

function explored(options: WorldOptions, go: (space: Space<State>) => Walk): Exploration {
  const space = new StateSpace(options);
  const checks = new StateChecks(space);
  const walked = go({
    start: () => space.start(),
    nameOf,
    successors: (state) => space.successors(state),
    problemOf: (state) => checks.problemOf(state),
    terminalProblem: (state) => checks.terminalProblem(state),
  });
  return { ...walked, fates: checks.fates, endings: checks.endings, ...space.sizes };
}
