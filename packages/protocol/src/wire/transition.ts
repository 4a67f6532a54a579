/** The shape of every step of the core: nothing of the answer may leave before the records are durable. */
import type { BasaEvent } from './events.ts';
import type { Refused } from './refusals.ts';

export interface Transition<State, Entry, Answer> {
  readonly state: State;
  readonly records: readonly Entry[];
  readonly answer: Answer | Refused;
  readonly events: readonly BasaEvent[];
}

/** A step that changes nothing: the answer was given before, or only reads. */
export function unchanged<State, Answer>(state: State, answer: Answer): Transition<State, never, Answer> {
  return { state, records: [], answer, events: [] };
}

/** A refusal changes nothing either. */
export function declined<State>(
  state: State,
  no: Refused,
  events: readonly BasaEvent[] = [],
): Transition<State, never, never> {
  return { state, records: [], answer: no, events };
}
