/** Walks breadth first through every reachable state; the first state that breaks a promise ends the walk, with the shortest path to it. */
import { RestoreError } from './messages.ts';

export interface Space<State> {
  start(): State;
  /** Distinguishes a state from every other. */
  nameOf(state: State): string;
  /**
   * Returns every state one step further, each with a description of the step. Throws `RestoreError` if records do not
   * restore the state.
   */
  successors(state: State): readonly (readonly [State, string])[];
  problemOf(state: State): string | undefined;
  /** Returns the problem of a state in which nothing more can happen, if any. */
  terminalProblem(state: State): string | undefined;
}

export interface WalkOptions {
  /** The number of states after which the walk stops. */
  readonly budget?: number | undefined;
  onProgress?: ((progress: Pick<Walk, 'states' | 'depth'> & { readonly waiting: number }) => void) | undefined;
}

export interface Walk {
  readonly states: number;
  readonly transitions: number;
  /** Steps from the start to the farthest state. */
  readonly depth: number;
  /** True if every state was reached. */
  readonly complete: boolean;
  /** States in which nothing more can happen. */
  readonly terminal: number;
  /** The shortest path to a state that breaks a promise. */
  readonly counterexample?: { readonly problem: string; readonly steps: readonly string[] };
}

const STEP_EVERY = 20_000;

export function walk<State>(space: Space<State>, { budget = Number.POSITIVE_INFINITY, onProgress }: WalkOptions): Walk {
  const start = space.start();
  const states: State[] = [start];
  const seen = new Set([space.nameOf(start)]);
  const parents: number[] = [-1];
  const words: string[] = ['the start'];
  const depths: number[] = [0];
  let [transitions, terminal, at] = [0, 0, 0];
  const report = (complete: boolean, counterexample?: Walk['counterexample']): Walk => ({
    states: states.length,
    transitions,
    depth: depths.at(-1) ?? 0,
    complete,
    terminal,
    ...(counterexample === undefined ? {} : { counterexample }),
  });
  const traceTo = (state: number): readonly string[] =>
    state <= 0 ? [] : [...traceTo(parents[state] as number), words[state] as string];

  for (; at < states.length; at++) {
    if (states.length >= budget) return report(false);
    if (at % STEP_EVERY === 0)
      onProgress?.({ states: states.length, depth: depths[at] ?? 0, waiting: states.length - at });
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
      const name = space.nameOf(next);
      transitions++;
      isTerminal = false;
      if (seen.has(name)) continue;
      seen.add(name);
      states.push(next);
      parents.push(at);
      words.push(how);
      depths.push((depths[at] as number) + 1);
      const problem = space.problemOf(next);
      if (problem !== undefined) return report(false, { problem, steps: traceTo(states.length - 1) });
    }
    if (!isTerminal) continue;
    terminal++;
    const problem = space.terminalProblem(state);
    if (problem !== undefined) return report(false, { problem, steps: traceTo(at) });
  }
  return report(true);
}

/** Follows random paths from the start to the end: these go deeper than a budget of states. */
export function wander<State>(space: Space<State>, ways: number, draw: (count: number) => number): Walk {
  let [states, transitions, depth] = [0, 0, 0];
  for (let way = 0; way < ways; way++) {
    const steps: string[] = [];
    const report = (problem: string): Walk => ({
      states,
      transitions,
      depth,
      complete: false,
      terminal: way,
      counterexample: { problem, steps },
    });
    for (let state = space.start(); ; ) {
      const successors = space.successors(state);
      transitions += successors.length;
      depth = Math.max(depth, steps.length);
      if (successors.length === 0) {
        const problem = space.terminalProblem(state);
        if (problem !== undefined) return report(problem);
        break;
      }
      const [next, how] = successors[draw(successors.length)] as readonly [State, string];
      states++;
      steps.push(how);
      state = next;
      const problem = space.problemOf(state);
      if (problem !== undefined) return report(problem);
    }
  }
  return { states, transitions, depth, complete: false, terminal: ways };
}
