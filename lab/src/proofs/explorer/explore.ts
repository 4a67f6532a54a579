/**
 * Walks through every state that user, server and authority can reach together, breadth first: the real transitions of
 * the core in any order, over a network that keeps every message and may deliver it never, late or again. A party has
 * nothing but its records; so a crash loses what it was about to say, and every step is a restart.
 */
import type { CastOptions } from './cast.ts';
import type { SettledFate } from './invariants.ts';
import { StateChecks } from './state-checks.ts';
import { nameOf, StateSpace } from './state-space.ts';
import { type Walk, type WalkOptions, walk } from './walk.ts';

export interface ExploreOptions extends CastOptions, WalkOptions {}

export interface Exploration extends Walk {
  /** Updates by fate, over all terminal states. */
  readonly fates: Readonly<Record<SettledFate, number>>;
  /** Distinct states of one party, and distinct messages: what the global ones are made of. */
  readonly local: number;
  readonly messages: number;
}

export function explore(options: ExploreOptions): Exploration {
  const space = new StateSpace(options);
  const checks = new StateChecks(space);
  const walked = walk(
    {
      start: () => space.start(),
      nameOf,
      successors: (state) => space.successors(state),
      problemOf: (state) => checks.problemOf(state),
      terminalProblem: (state) => checks.terminalProblem(state),
    },
    options,
  );
  return { ...walked, fates: checks.fates, ...space.sizes };
}
