/**
 * Asks several authorities in parallel, and waits for as many as are needed: the slowest ones delay nothing. Each
 * request judges its own answer and throws if it is wrong, so that a lying authority counts as a silent one.
 */
import { Poll } from '@basa/protocol';
import { AuthorityRefusal, AuthorityUnreachable } from './authority-http.ts';

export interface Answered<Answer> {
  /** The index of the authority. */
  readonly authority: number;
  readonly answer: Answer;
}

export interface Question<Answer> {
  readonly authority: number;
  ask(): Promise<Answer>;
}

export interface GatherOptions<Answer> {
  /** Fewer answers are a failure. */
  readonly needed: number;
  /** The time for which the others are awaited once there are enough. */
  readonly graceMs: number;
  /** True if these are enough; until then all are awaited. Without it, as many as are needed. */
  isEnough?(answers: readonly Answered<Answer>[]): boolean;
}

/** Returns the answers that came in time. Throws the refusal if enough refused, otherwise an error that too few answer. */
export function gather<Answer>(
  questions: readonly Question<Answer>[],
  { needed, graceMs, isEnough = () => true }: GatherOptions<Answer>,
): Promise<readonly Answered<Answer>[]> {
  const poll = new Poll<Answered<Answer>>(questions.length, (good) => good.length >= needed && isEnough(good));
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const end = (): void => {
      clearTimeout(timer);
      if (poll.good.length >= needed) resolve([...poll.good].sort((a, b) => a.authority - b.authority));
      else reject(whyOf(poll.failures, needed, questions.length));
    };
    const settle = (): void => {
      if (poll.isOver) end();
      else if (poll.isEnough && graceMs === 0) end();
      else if (poll.isEnough) timer ??= setTimeout(end, graceMs);
    };
    if (questions.length < needed) reject(new AuthorityUnreachable(`${needed} authorities are needed`));
    for (const { authority, ask } of questions) {
      ask()
        .then((answer) => poll.answered({ authority, answer }, undefined))
        .catch((error: unknown) => poll.failed(error))
        .finally(settle);
    }
  });
}

/** A refusal by enough authorities is a refusal; if too few answered at all, that is the error. */
function whyOf(errors: readonly unknown[], needed: number, asked: number): unknown {
  const [first] = errors;
  if (asked === 1) return first;
  const refusals = errors.filter((error) => error instanceof AuthorityRefusal);
  if (refusals.length > asked - needed) return refusals[0];
  const words = errors.map((error) => (error instanceof Error ? error.message : String(error))).join('; ');
  return new AuthorityUnreachable(
    `${needed} of ${asked} authorities are needed, and ${errors.length} failed: ${words}`,
    {
      cause: first,
    },
  );
}
