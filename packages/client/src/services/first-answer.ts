/** Gets one answer from several services that could give it, without waiting long for a silent service. */
import { ProblemError } from '../errors.ts';

/** The silence after which the next one is asked too. */
export const SILENCE_MS = 2000;

export interface Answered<Asked, Answer> {
  readonly asked: Asked;
  readonly answer: Answer;
}

/** Returns the first answer. The next one is asked when those before it failed, or were silent for a while. */
export async function firstAnswer<Asked, Answer>(
  all: readonly Asked[],
  signal: AbortSignal,
  ask: (one: Asked, signal: AbortSignal) => Promise<Answer>,
  silenceMs = SILENCE_MS,
): Promise<Answered<Asked, Answer>> {
  const rest = new AbortController();
  const both = AbortSignal.any([signal, rest.signal]);
  const failures: unknown[] = [];
  const pending = new Set<Promise<Answered<Asked, Answer> | undefined>>();
  const start = (asked: Asked): void => {
    const answering: Promise<Answered<Asked, Answer> | undefined> = ask(asked, both).then(
      (answer) => ({ asked, answer }),
      (error: unknown) => {
        pending.delete(answering);
        failures.push(error);
        return undefined;
      },
    );
    pending.add(answering);
  };
  try {
    for (const one of all) {
      start(one);
      const first = await Promise.race([...pending, silence(both, silenceMs)]);
      if (first !== undefined) return first;
    }
    while (pending.size > 0) {
      const first = await Promise.race(pending);
      if (first !== undefined) return first;
    }
  } finally {
    rest.abort(new Error('another one answered'));
  }
  signal.throwIfAborted();
  throw failures.find((error) => error instanceof ProblemError) ?? failures[0];
}

function silence(signal: AbortSignal, ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, undefined);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve(undefined);
      },
      { once: true },
    );
  });
}
