/**
 * Walks through every state that user, server and authority can reach together, breadth first: the real transitions of
 * the core in any order, over a network that keeps every message and may deliver it never, late or again. A party has
 * nothing but its records; so a crash loses what it was about to say, and every step is a restart.
 */
import type { CastOptions } from './cast.ts';
import type { SettledFate } from './invariants.ts';
import { RestoreError } from './messages.ts';
import { StateChecks } from './state-checks.ts';
import type { State } from './state-space.ts';
import { nameOf, StateSpace } from './state-space.ts';

export interface ExploreOptions extends CastOptions {
  /** States to stop after. */
  readonly budget?: number;
  onProgress?(progress: Pick<Exploration, 'states' | 'depth'> & { readonly waiting: number }): void;
}

export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  /** Steps from the start to the farthest state. */
  readonly depth: number;
  /** Whether every state was reached. */
  readonly complete: boolean;
  /** States in which nothing more can happen. */
  readonly terminal: number;
  /** Updates by fate, over all terminal states. */
  readonly fates: Readonly<Record<SettledFate, number>>;
  /** Distinct states of one party, and distinct messages: what the global ones are made of. */
  readonly local: number;
  readonly messages: number;
  /** The shortest way to a state that breaks a promise. */
  readonly counterexample?: { readonly problem: string; readonly steps: readonly string[] };
}

const STEP_EVERY = 20_000;

export function explore(options: ExploreOptions): Exploration {
  const space = new StateSpace(options);
  const checks = new StateChecks(space);
  const budget = options.budget ?? Number.POSITIVE_INFINITY;
  const start = space.start();
  const states: State[] = [start];
  const seen = new Set([nameOf(start)]);
  const parents: number[] = [-1];
  const words: string[] = ['the start'];
  const depths: number[] = [0];
  let [transitions, terminal, at] = [0, 0, 0];
  const report = (complete: boolean, counterexample?: Exploration['counterexample']): Exploration => ({
    states: states.length,
    transitions,
    depth: depths.at(-1) ?? 0,
    complete,
    terminal,
    fates: checks.fates,
    ...space.sizes,
    ...(counterexample === undefined ? {} : { counterexample }),
  });
  const traceTo = (state: number): readonly string[] =>
    state <= 0 ? [] : [...traceTo(parents[state] as number), words[state] as string];

  for (; at < states.length; at++) {
    if (states.length >= budget) return report(false);
    if (at % STEP_EVERY === 0)
      options.onProgress?.({ states: states.length, depth: depths[at] ?? 0, waiting: states.length - at });
    const state = states[at] as State;
    let isTerminal = true;
    let successors: readonly (readonly [State, string])[];
    try {
      successors = space.successors(state);
    } catch (error) {
      if (!(error instanceof RestoreError)) throw error;
      return report(false, { problem: error.message, steps: traceTo(at) });
    }
    for (const [next, how] of successors) {
      const name = nameOf(next);
      transitions++;
      isTerminal = false;
      if (seen.has(name)) continue;
      seen.add(name);
      states.push(next);
      parents.push(at);
      words.push(how);
      depths.push((depths[at] as number) + 1);
      const problem = checks.problemOf(next);
      if (problem !== undefined) return report(false, { problem, steps: traceTo(states.length - 1) });
    }
    if (!isTerminal) continue;
    terminal++;
    const problem = checks.terminalProblem(state);
    if (problem !== undefined) return report(false, { problem, steps: traceTo(at) });
  }
  return report(true);
}
