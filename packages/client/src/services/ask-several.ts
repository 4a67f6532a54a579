/** Asks several authorities in parallel, and continues as soon as enough of them have given a good answer. */
import type { Refused } from '@basa/protocol';
import { Poll } from '@basa/protocol/wire';
import { AnswerError, ProblemError, UnreachableError } from '../errors.ts';

/** The time for which further answers are awaited if there are enough to go on. */
export const SILENCE_MS = 2000;

/** Returns the reason why an answer does not count, so that another authority's is awaited. */
type Judge<Answer> = (answer: Answer) => Refused | undefined;

export interface Asking<One, Answer> {
  readonly needed: number;
  readonly signal: AbortSignal;
  ask(one: One, signal: AbortSignal): Promise<Answer>;
  readonly judge?: Judge<Answer>;
  /** True if these are enough; without it, as many as are needed. */
  isEnough?(good: readonly Answer[]): boolean;
  /**
   * The time for which further answers are awaited if the needed number has come but is not enough; without it, until
   * all have answered.
   */
  readonly graceMs?: number;
}

/**
 * Returns as soon as there are enough answers, and cancels the other requests. If all authorities are done and there are not enough
 * answers, returns the answers only if silent authorities could not change the result.
 */
export async function askSeveral<One, Answer>(
  all: readonly One[],
  { needed, signal, ask, judge = () => undefined, isEnough = () => true, graceMs }: Asking<One, Answer>,
): Promise<readonly Answer[]> {
  if (needed === 0) return [];
  const [only] = all;
  if (only !== undefined && all.length === 1) return [await ask(only, signal)];
  const rest = new AbortController();
  const both = AbortSignal.any([signal, rest.signal]);
  const poll = new Poll<Answer>(all.length, (good) => good.length >= needed && isEnough(good));
  let grace: ReturnType<typeof setTimeout> | undefined;
  try {
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        if (poll.isEnough || poll.isOver) resolve();
        else if (graceMs !== undefined && poll.good.length >= needed) grace ??= setTimeout(resolve, graceMs);
      };
      if (all.length === 0) resolve();
      for (const one of all) {
        ask(one, both)
          .then((answer) => poll.answered(answer, judge(answer)))
          .catch((error: unknown) => poll.failed(error))
          .finally(settle);
      }
    });
  } finally {
    clearTimeout(grace);
    rest.abort(new Error('enough others answered'));
  }
  signal.throwIfAborted();
  if (poll.good.length >= needed) return poll.good;
  // A refusal or a wrong answer is final if too few authorities are left. Otherwise authorities that were silent may still provide enough
  // answers later.
  const nos = poll.failures.filter((error) => error instanceof ProblemError);
  const silent = poll.failures.filter((error) => !(error instanceof ProblemError));
  if (poll.good.length + silent.length >= needed) throw tooFew(silent, needed, all.length);
  if (poll.good.length + poll.wrong.length >= needed) return [...poll.good, ...poll.wrong];
  throw nos[0] ?? silent[0] ?? new AnswerError('the authorities', 'nothing');
}

/** States how many are needed, if some were silent. */
function tooFew(silent: readonly unknown[], needed: number, asked: number): unknown {
  const away = silent.filter((error) => error instanceof UnreachableError);
  const [first] = away;
  if (first === undefined) return silent[0];
  const counts = `${needed} of ${asked} authorities must answer, but ${away.length} did not`;
  const advice = 'the work so far is kept; call resume() when one of them is back';
  return new UnreachableError('the authority', first.cause ?? first, { advice, more: `; ${counts}` });
}
